import { describe, expect, it } from "vitest";
import type { StepInput, StepOutput } from "../../lib/steps/io.ts";
import { stepInput } from "../../lib/workflow/step-input.ts";

const ids = { tenant: "acme", sessionId: "20260505_143022_a1b2c3d4", turn: 3, segment: 1, execution: "e1" };
const state: StepOutput = { ...ids, next: "act", calls: [0, 4], waitSeconds: 0, handOver: "" };

describe("stepInput", () => {
  it("takes the ids from the state of the machine, and leaves the rest there", () => {
    expect(stepInput(state)).toEqual(ids);
  });

  it("takes a call from beside the state", () => {
    expect(stepInput({ state, item: { Value: 0 } })).toEqual({ ...ids, index: 0 });
    expect(stepInput({ state, item: { Value: 4 }, taskToken: "token" })).toEqual({
      ...ids,
      index: 4,
      taskToken: "token",
    });
  });

  it("keeps a step's own fields, empty ones too", () => {
    const own: StepInput = { ...ids, cause: "", index: 0, error: "AgentChanged" };
    expect(stepInput(own)).toEqual(own);
  });
});
