// think: asks the model once (or takes one step of a flow) and commits what came of it. It decides anew
// from the log first, so a visit that comes too early or twice does nothing.
import type { Deps } from "./deps.ts";
import { agentOf } from "./deps.ts";
import type { StepInput, StepOutput } from "./io.ts";
import { decide, startRun } from "./run.ts";
import { advanceFlow } from "./think/flow-step.ts";
import { askModel } from "./think/model-step.ts";

export async function think(deps: Deps, input: StepInput): Promise<StepOutput> {
  const run = startRun(deps, input, "think");
  const head = await run.owned();
  const decision = decide(deps, head);
  if (decision.next === "done" && decision.dueAt !== undefined) {
    await deps.store.statuses.write(head.state, head.version, deps.clock.now(), decision.dueAt);
  }
  if (decision.next !== "think") return run.output(head, decision);
  const agent = agentOf(deps, head.state.agent);
  const after = agent.kind === "flow" ? await advanceFlow(run, head, agent) : await askModel(run, head, agent);
  return after === "compact" ? run.output(head, decide(deps, head, true)) : run.output(after);
}
