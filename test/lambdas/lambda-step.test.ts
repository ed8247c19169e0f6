import { describe, expect, it } from "vitest";
import { lambdaStep } from "../../lambdas/lambda-step.ts";
import type { Wiring } from "../../lambdas/wire.ts";
import { createJsonLog } from "../../lib/adapters/json-log.ts";
import { Fenced, InvalidInput, ItemTooLarge, StoreThrottled, UnreadableRecord } from "../../lib/core/errors.ts";
import type { Deps } from "../../lib/steps/deps.ts";
import type { StepInput, StepOutput } from "../../lib/steps/io.ts";

const input: StepInput = {
  tenant: "acme",
  sessionId: "20260505_143022_a1b2c3d4",
  turn: 3,
  segment: 0,
  execution: "e1",
};
const done: StepOutput = { ...input, next: "done", calls: [], waitSeconds: 0, handOver: "" };
const invocation = { getRemainingTimeInMillis: () => 60_000 };

/** Only the log is looked at; the step is given the rest as it is. */
function handlerOf(step: (deps: Deps, input: StepInput) => Promise<StepOutput>) {
  const lines: Record<string, unknown>[] = [];
  const log = createJsonLog({ write: (line) => lines.push(JSON.parse(line)), now: () => 0 });
  return { handler: lambdaStep("think", step, { log } as Wiring), lines };
}

async function failureOf(error: unknown) {
  const { handler, lines } = handlerOf(() => Promise.reject(error));
  const thrown: unknown = await handler(input, invocation).catch((caught: unknown) => caught);
  if (!(thrown instanceof Error)) throw new Error("nothing was thrown");
  return { thrown, lines };
}

describe("a step as a Lambda handler", () => {
  it("answers what the step answers, given its input as it came", async () => {
    const { handler, lines } = handlerOf(async (_deps, given) => ({ ...done, turn: given.turn + 1 }));
    expect(await handler(input, invocation)).toEqual({ ...done, turn: 4 });
    expect(lines).toEqual([]);
  });

  it.each([
    [new StoreThrottled("table of acme"), "StoreThrottled", "store.throttled"],
    [new UnreadableRecord("V#000000000007: unknown tag"), "UnreadableRecord", "store.unreadable_record"],
    [new RangeError("the customer said: my PIN is 1234"), "RangeError", "unexpected"],
    ["thrown text with a PIN 1234", "Error", "unexpected"],
  ])("lets an error out with its name and code only: %s (G20)", async (error, name, code) => {
    const { thrown } = await failureOf(error);
    // All that the Lambda runtime reports.
    expect({ name: thrown.name, message: thrown.message, stack: thrown.stack }).toEqual({
      name,
      message: code,
      stack: `${name}: ${code}`,
    });
  });

  it("logs what failed where, without what others put into messages (G20)", async () => {
    const ours = await failureOf(new UnreadableRecord("V#000000000007: unknown tag"));
    expect(ours.lines).toEqual([
      {
        at: "1970-01-01T00:00:00.000Z",
        level: "error",
        message: "step failed",
        step: "think",
        tenant: "acme",
        sessionId: input.sessionId,
        turn: 3,
        execution: "e1",
        error: "UnreadableRecord",
        code: "store.unreadable_record",
        detail: "V#000000000007: unknown tag",
      },
    ]);
    for (const secret of [new RangeError("PIN\n1234"), new InvalidInput("got PIN 1234"), "PIN 1234"]) {
      const { lines } = await failureOf(secret);
      expect(lines).toHaveLength(1);
      expect(JSON.stringify(lines)).not.toContain("1234");
    }
    const theirs = await failureOf(new RangeError("PIN 1234"));
    expect(theirs.lines[0]?.detail).toMatch(/^at .*lambda-step\.test\.ts/);
  });

  it("takes a passing fault for an answer to the machine, not for an alarm", async () => {
    const { lines } = await failureOf(new StoreThrottled("table"));
    expect(lines.map(({ level, message }) => [level, message])).toEqual([["info", "step ended early"]]);
  });

  it("ends quietly when its execution was fenced off (H15)", async () => {
    const { handler, lines } = handlerOf(() => Promise.reject(new Fenced("owner is e2")));
    expect(await handler(input, invocation)).toEqual(done);
    expect(lines).toEqual([]);
  });

  it("refuses an answer that is not small (H73)", async () => {
    const { handler } = handlerOf(async () => ({ ...done, handOver: "x".repeat(20_000) }));
    const code = new ItemTooLarge("").code;
    await expect(handler(input, invocation)).rejects.toMatchObject({ name: "ItemTooLarge", message: code });
  });

  it("tells tools to stop before Lambda stops the process (H22)", async () => {
    const { handler } = handlerOf(async (deps) => ({ ...done, waitSeconds: deps.stopping.aborted ? 1 : 0 }));
    expect(await handler(input, invocation)).toEqual(done);
    const stopped = handlerOf(async (deps) => {
      await new Promise<void>((resolve) => {
        if (deps.stopping.aborted) resolve();
        else deps.stopping.addEventListener("abort", () => resolve());
      });
      return done;
    });
    expect(await stopped.handler(input, { getRemainingTimeInMillis: () => 5_000 })).toEqual(done);
  });
});
