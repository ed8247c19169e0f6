import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EndReason } from "../../lib/core/event.ts";
import { emptyHandoff, type HandoffRecord } from "../../lib/core/handoff.ts";
import { type FeaturePlan, planFeatures } from "../../lib/core/project/plan-features.ts";
import {
  afterTurn,
  closedAfter,
  goesOn,
  halted,
  type ProjectState,
  projectTurn,
  turnWithRecord,
  withRecord,
} from "../../lib/core/project.ts";

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

describe("the course of a project", () => {
  const lifecycle = { kind: "open" };

  it("plans first, then works on the first open feature, and talks when a user has written", () => {
    expect(projectTurn(undefined, rules, { auto: false })).toEqual({ role: "initializer", attempt: 1, attempts: 2 });
    const project = withRecord(undefined, recordOf("a", "b"));
    expect(projectTurn(project, rules, { auto: true })).toEqual({
      role: "worker",
      attempt: 1,
      attempts: 2,
      feature: "a",
      auto: true,
    });
    expect(projectTurn(project, rules, { auto: false })).toEqual({ role: "talk", attempt: 1, attempts: 2 });
  });

  it("closes tools that change something once the turn's feature is proven", () => {
    const turn = { role: "worker", attempt: 1, attempts: 2, feature: "a" } as const;
    expect(closedAfter(turn, { effect: "idempotent" })).toBeNull();
    expect(closedAfter({ ...turn, verified: true }, { effect: "once" })).toMatch(/feature "a" is complete/);
    expect(closedAfter({ ...turn, verified: true }, { effect: "read" })).toBeNull();
  });

  it("waits for a user when it was taken over or rolled back, unless all passes", () => {
    const project: ProjectState = { status: "working", total: 2, passing: 1, next: "b", attempts: 1 };
    expect(halted(project)).toEqual({ ...project, status: "halted", attempts: 0 });
    expect(halted({ ...project, status: "passed" }).status).toBe("passed");
  });

  const reasons: EndReason[] = ["completed", "not_verified", "rounds", "loop", "error", "truncated", "turn_minutes"];
  const some = fc.record({ proves: fc.boolean(), blocked: fc.boolean(), reason: fc.constantFrom(...reasons) });

  it("comes to an end by itself: passed only with every feature proven, else blocked after the attempts", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.infiniteStream(some), (count, outcomes) => {
        let record = recordOf(...Array.from({ length: count }, (_, i) => `f${i}`));
        let project = withRecord(undefined, record);
        let turns = 0;
        let failures = 0;
        while (goesOn({ lifecycle, turn: null, ...(project ? { project } : {}) })) {
          expect(++turns).toBeLessThanOrEqual(count * rules.attempts);
          let turn = projectTurn(project, rules, { auto: true });
          expect(turn.feature).toBe(record.features?.find(({ passes }) => !passes)?.id);
          const { proves, blocked, reason } = outcomes.next().value ?? {
            proves: true,
            blocked: false,
            reason: "completed",
          };
          const features = (record.features ?? []).map((feature) =>
            feature.id === turn.feature ? { ...feature, passes: proves } : feature,
          );
          record = { ...record, features, blocked: blocked && !proves ? ["why"] : [] };
          project = withRecord(project, record);
          turn = turnWithRecord(turn, record);
          project = afterTurn(project, turn, reason);
          failures = proves ? 0 : failures + 1;
          expect(project.attempts).toBe(failures);
        }
        const open = record.features?.filter(({ passes }) => !passes).length;
        expect(project?.status).toBe(open === 0 ? "passed" : "blocked");
      }),
    );
  });

  it.each(["stopped", "budget_exceeded"] as const)("stands still after %s", (reason) => {
    const project = withRecord(undefined, recordOf("a"));
    const turn = projectTurn(project, rules, { auto: true });
    expect(afterTurn(project, turn, reason)).toMatchObject({ status: "halted", attempts: 0 });
  });

  it("counts no attempt against a turn that a person interrupted", () => {
    const project = withRecord(undefined, recordOf("a"));
    const turn = projectTurn(project, rules, { auto: true });
    expect(afterTurn(project, turn, "interrupted")).toEqual(project);
  });
});
