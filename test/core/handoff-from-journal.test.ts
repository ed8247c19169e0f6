import { describe, expect, it } from "vitest";
import type { Event } from "../../lib/core/event.ts";
import { emptyHandoff } from "../../lib/core/handoff.ts";
import { handoffFromJournal, withJournal } from "../../lib/core/handoff-from-journal.ts";
import { finished, log, reply, user } from "./context/histories.ts";

const error = { name: "ToolFailed", code: "tool.failed", message: "no" };

function started(index: number, input: { [key: string]: string }): Event {
  const keys = { inputHash: "", idempotencyKey: "", attempt: 1, leaseUntil: 0 };
  return { type: "call.started", round: 1, index, tool: "look", input, effect: "once", ...keys };
}

describe("handoffFromJournal", () => {
  it("lists what really happened, in order, with the arguments that ran", () => {
    const failed = finished(1, 2, "c", "no", { effect: "once", outcome: { status: "failed", error } });
    const journal = handoffFromJournal(
      log(
        user(7, "go"),
        reply(1, { calls: ["a", "b", "c", "d", "e", "f"], effect: "once" }),
        started(0, { to: "edited by the approver" }),
        finished(1, 0, "a", "ok", {
          effect: "once",
          outcome: { status: "success", output: 1, resources: ["doc-1", { id: 2 }] },
        }),
        finished(1, 1, "b", "?", { effect: "once", outcome: { status: "in_doubt", error } }),
        { ...failed, tookMs: 3 } as Event,
        finished(1, 3, "d", "no", { effect: "once", outcome: { status: "denied", error } }),
        finished(1, 4, "e", "no", { effect: "once", outcome: { status: "failed", error } }),
        finished(1, 5, "f", "ok", { effect: "read", outcome: { status: "success", output: 1, resources: ["doc-1"] } }),
      ),
    );
    expect(journal).toEqual({
      sideEffects: [
        { action: "look", target: '{"to":"edited by the approver"}', atTurn: 7, status: "done" },
        { action: "look", target: '{"id":"b"}', atTurn: 7, status: "in_doubt" },
        { action: "look", target: '{"id":"c"}', atTurn: 7, status: "failed" },
      ],
      resources: ["doc-1", '{"id":2}'],
    });
  });
});

describe("withJournal", () => {
  it("adds to the record and repeats no resource", () => {
    const effect = { action: "mail", target: "bob", atTurn: 1, status: "done" as const };
    const record = { ...emptyHandoff, goal: "g", sideEffects: [effect], resources: ["r1"] };
    expect(withJournal(record, { sideEffects: [effect], resources: ["r1", "r2"] })).toEqual({
      ...record,
      sideEffects: [effect, effect],
      resources: ["r1", "r2"],
    });
  });
});
