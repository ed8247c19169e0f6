import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyHandoff, type HandoffRecord } from "../../lib/core/handoff.ts";
import { applyProgress, type ProgressUpdate } from "../../lib/core/progress.ts";
import { completeFeature, type Evidence } from "../../lib/core/project/complete-feature.ts";
import { type Feature, type FeaturePlan, mayBecome, planFeatures } from "../../lib/core/project/plan-features.ts";
import type { TurnCall } from "../../lib/core/project/turn-calls.ts";

const rules = { checks: ["check"], commit: "commit", attempts: 2 };
const checkTool = {
  name: "check",
  accepts: (input: unknown) => (typeof (input as { name?: unknown }).name === "string" ? null : "name: is missing"),
};
const planned = (id: string, more: Partial<FeaturePlan["features"][number]> = {}) => ({
  id,
  category: "part",
  description: `${id} works`,
  steps: [`try ${id}`],
  check: "check",
  checkInput: { name: id },
  ...more,
});

function recordOf(...ids: string[]): HandoffRecord {
  const result = planFeatures(emptyHandoff, { features: ids.map((id) => planned(id)) }, [checkTool]);
  if ("refused" in result) throw new Error(result.refused.join());
  return result.record;
}

const made = (tool: string, round: number, more: Partial<TurnCall> = {}): TurnCall => ({
  callId: `${tool}-${round}`,
  tool,
  effect: tool === "check" ? "read" : "idempotent",
  round,
  input: { name: "a" },
  state: "success",
  ...more,
});
const evidence = (...calls: TurnCall[]): Evidence => ({ feature: "a", calls, rules });
const good = [made("build", 1), made("check", 2), made("commit", 3)];

describe("planFeatures", () => {
  it("takes a list, each feature open, and its goal", () => {
    const result = planFeatures(emptyHandoff, { goal: "a site", features: [planned("a")] }, [checkTool]);
    expect(result).toEqual({
      record: {
        ...emptyHandoff,
        goal: "a site",
        features: [
          {
            id: "a",
            category: "part",
            description: "a works",
            steps: ["try a"],
            check: "check",
            checkInput: '{"name":"a"}',
            passes: false,
          },
        ],
      },
    });
  });

  it("adds what is new at the end, and changes nothing for what stands", () => {
    const before = recordOf("a", "b");
    const result = planFeatures(before, { features: [planned("c"), planned("a")] }, [checkTool]);
    expect("record" in result && result.record.features?.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(planFeatures(before, { features: [planned("b")] }, [checkTool])).toEqual({ record: before });
  });

  const cases: [string, FeaturePlan["features"], RegExp][] = [
    ["another description", [planned("a", { description: "easier" })], /a: stands already and cannot be reworded/],
    ["other steps", [planned("a", { steps: ["look away"] })], /cannot be reworded/],
    ["another check", [planned("a", { check: "other" })], /cannot be reworded/],
    ["other arguments of the check", [planned("a", { checkInput: { name: "b" } })], /cannot be reworded/],
    ["a check that is no check", [planned("n", { check: "build" })], /n: "build" is no tool that proves features/],
    [
      "arguments that do not fit",
      [planned("n", { checkInput: {} })],
      /checkInput does not fit "check": name: is missing/,
    ],
  ];
  it.each(cases)("refuses %s, and the whole plan with it", (_name, features, why) => {
    const before = recordOf("a");
    const result = planFeatures(before, { features: [planned("new"), ...features] }, [checkTool]);
    expect("refused" in result && result.refused.join()).toMatch(why);
  });
});

describe("the size of a feature list", () => {
  it("is bounded, over all calls", () => {
    const long = (id: string) => planned(id, { description: "x".repeat(2000) });
    const features = Array.from({ length: 15 }, (_, i) => long(`f${i}`));
    const first = planFeatures(emptyHandoff, { features }, [checkTool]);
    if (!("record" in first)) throw new Error("refused");
    const more = Array.from({ length: 15 }, (_, i) => long(`g${i}`));
    const second = planFeatures(first.record, { features: more }, [checkTool]);
    expect("refused" in second && second.refused.join()).toMatch(
      /characters of at most 40000; describe features shorter/,
    );
  });
});

describe("completeFeature", () => {
  it("lets the turn's feature pass on a successful check that came after the work and before the commit", () => {
    const result = completeFeature(recordOf("a", "b"), { id: "a", callId: "check-2" }, evidence(...good));
    const record = "record" in result ? result.record : emptyHandoff;
    expect(record.features?.map(({ id, passes, provenBy }) => [id, passes, provenBy])).toEqual([
      ["a", true, "check-2"],
      ["b", false, undefined],
    ]);
    expect(record.done).toEqual(["a: a works"]);
  });

  it("answers the same for the same completion again", () => {
    const once = completeFeature(recordOf("a"), { id: "a", callId: "check-2" }, evidence(...good));
    if (!("record" in once)) throw new Error("refused");
    expect(completeFeature(once.record, { id: "a", callId: "check-2" }, evidence(...good))).toEqual(once);
    expect(completeFeature(once.record, { id: "a", callId: "check-9" }, evidence(...good))).toEqual({
      refused: 'feature "a" passes already; end the turn',
    });
  });

  const cheats: [string, TurnCall[], RegExp][] = [
    ["no call at all", [], /this turn has no call "check-2"/],
    ["a check that failed", [made("check", 2, { state: "failed" }), made("commit", 3)], /was not successful/],
    ["a check that has not ended", [made("check", 2, { state: "open" }), made("commit", 3)], /was not successful/],
    ["a check that was refused", [made("check", 2, { state: "none" }), made("commit", 3)], /was not successful/],
    [
      "the check of another feature",
      [made("check", 2, { input: { name: "b" } }), made("commit", 3)],
      /other arguments/,
    ],
    ["another tool", [made("build", 1, { callId: "check-2" })], /is one of "build"/],
    ["a change after the check", [...good, made("build", 4)], /"build" was called after the check/],
    ["a change together with the check", [made("build", 2), ...good.slice(1)], /"build" was called after/],
    ["a change that is still running", [...good, made("build", 4, { state: "open" })], /"build" was called after/],
    ["a change that failed half way", [...good, made("build", 4, { state: "failed" })], /"build" was called after/],
    ["no commit", good.slice(0, 2), /call "commit", then complete/],
    ["a commit before the check", [made("commit", 1), made("check", 2)], /call "commit", then complete/],
    ["a commit together with the check", [made("check", 2), made("commit", 2)], /call "commit", then complete/],
    [
      "a commit that failed",
      [made("check", 2), made("commit", 3, { state: "failed" })],
      /call "commit", then complete/,
    ],
  ];
  it.each(cheats)("refuses %s", (_name, calls, why) => {
    const result = completeFeature(recordOf("a", "b"), { id: "a", callId: "check-2" }, evidence(...calls));
    expect("refused" in result && result.refused).toMatch(why);
  });

  it("allows a change that never ran after the check, and no commit where the agent has none", () => {
    const given = { id: "a", callId: "check-2" };
    expect(
      completeFeature(recordOf("a"), given, evidence(...good, made("build", 4, { state: "none" }))),
    ).toHaveProperty("record");
    const bare = { ...evidence(...good.slice(0, 2)), rules: { checks: ["check"], attempts: 2 } };
    expect(completeFeature(recordOf("a"), given, bare)).toHaveProperty("record");
  });

  it("refuses a feature that is not the turn's, and one that is not there", () => {
    const record = recordOf("a", "b");
    const other = completeFeature(record, { id: "b", callId: "check-2" }, evidence(...good));
    expect(other).toEqual({ refused: 'this turn is for feature "a" only; one turn completes one feature' });
    expect(completeFeature(record, { id: "x", callId: "check-2" }, evidence(...good))).toEqual({
      refused: 'there is no feature "x"',
    });
  });
});

describe("the feature list, whatever is tried", () => {
  const id = fc.constantFrom("a", "b", "c", "d");
  const someFeature = fc.record({
    id,
    wording: fc.constantFrom("", " but easier"),
    check: fc.constantFrom("check", "check", "build"),
  });
  const someCall = fc.record({
    tool: fc.constantFrom("build", "check", "commit"),
    round: fc.integer({ min: 1, max: 4 }),
    name: id,
    state: fc.constantFrom("success", "success", "failed", "open", "none"),
  });
  const plan = fc.array(someFeature, { maxLength: 4 }).map((features) => (record: HandoffRecord) => {
    const list = features.map(({ id, wording, check }) => planned(id, { description: `${id} works${wording}`, check }));
    const result = planFeatures(record, { features: list }, [checkTool]);
    return "record" in result ? result.record : record;
  });
  const claim = fc.record({ id, turn: id, calls: fc.array(someCall, { maxLength: 6 }), pick: fc.nat(5) });
  const completion = claim.map(({ id, turn, calls, pick }) => (record: HandoffRecord) => {
    const list = calls.map(({ tool, round, name, state }, i) =>
      made(tool, round, { callId: `c${i}`, input: { name }, state: state as TurnCall["state"] }),
    );
    const result = completeFeature(record, { id, callId: `c${pick}` }, { feature: turn, calls: list, rules });
    if (!("record" in result)) return record;
    const before = record.features?.find((feature) => feature.id === id);
    if (before && !before.passes) {
      // What "proven" means, said once more and otherwise.
      const proof = list[pick];
      expect(turn).toBe(id);
      expect(proof).toMatchObject({ tool: "check", state: "success", input: { name: id } });
      const later = list.filter(({ round }) => round > (proof?.round ?? 9));
      expect(later.some(({ tool, state }) => tool === "commit" && state === "success")).toBe(true);
      expect(later.some(({ tool, state }) => tool === "build" && state !== "none")).toBe(false);
    }
    return result.record;
  });
  const progress = fc
    .constantFrom<ProgressUpdate>({ done: ["x"] }, { next: "y" }, { blocked: ["z"] })
    .map((update) => (record: HandoffRecord) => applyProgress(record, update, { turn: 1, userText: "" }).record);

  it("never loses, rewords, reorders or un-passes a feature, and only proof makes one pass", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(plan, completion, progress), { maxLength: 30 }), (moves) => {
        let record: HandoffRecord = emptyHandoff;
        for (const move of moves) {
          const next = move(record);
          expect(mayBecome(record.features ?? [], next.features ?? [])).toBe(true);
          const passing = (features: readonly Feature[] = []) => features.filter(({ passes }) => passes).length;
          expect(passing(next.features) - passing(record.features)).toBeLessThanOrEqual(1);
          record = next;
        }
      }),
      { numRuns: 300 },
    );
  });

  it("mayBecome tells a lost, a reworded and an un-passed feature", () => {
    const [a, b] = recordOf("a", "b").features ?? [];
    if (!a || !b) throw new Error("no features");
    expect(mayBecome([a, b], [a])).toBe(false);
    expect(mayBecome([a, b], [b, a])).toBe(false);
    expect(mayBecome([a], [{ ...a, steps: [] }])).toBe(false);
    expect(mayBecome([{ ...a, passes: true }], [a])).toBe(false);
    expect(mayBecome([a], [{ ...a, passes: true }, b])).toBe(true);
  });
});
