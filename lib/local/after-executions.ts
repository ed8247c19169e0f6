// Tells recovery and delivery that an execution has ended: what the rule on execution status does on AWS.
import { rememberSession } from "../memory/remember.ts";
import { afterExecution } from "../recovery/after-execution.ts";
import type { Deps } from "../steps/deps.ts";
import type { InterpreterEvent } from "./interpreter.ts";

export type AfterExecutions = {
  onEvent(event: InterpreterEvent): void;
  /** Resolves when nothing that has ended is still being looked after. */
  settled(): Promise<void>;
};

export function createAfterExecutions(deps: Deps): AfterExecutions {
  const underWay = new Set<Promise<void>>();
  return {
    onEvent(event) {
      if (event.kind !== "succeeded" && event.kind !== "failed") return;
      const { execution, input } = event;
      const { tenant, sessionId } = input;
      const status = event.kind === "failed" ? "FAILED" : "SUCCEEDED";
      const work = afterExecution(deps, { tenant, sessionId, execution, status, eventId: execution })
        // As on AWS, where another function does it: after the answer is on its way.
        .then(() => rememberSession(deps, { tenant, sessionId }))
        .then(() => {})
        // The sweeper does it later.
        .catch((error: unknown) =>
          deps.log.warn("not done after an execution", {
            sessionId,
            error: error instanceof Error ? error.name : "Error",
          }),
        )
        .finally(() => underWay.delete(work));
      underWay.add(work);
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
