import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildTree } from "../../lib/sessions/build-tree.ts";
import type { Turn } from "../../lib/sessions/tree-shape.ts";
import {
  address,
  callFinished,
  callStarted,
  created,
  replied,
  sessionLog,
  turnFinished,
  turnStarted,
} from "./session-log.ts";

const seconds = (n: number) => new Date(Date.parse("2026-05-05T14:30:22.000Z") + n * 1000).toISOString();
const usage = (times: number) => ({
  inputTokens: 100 * times,
  outputTokens: 20 * times,
  cacheReadTokens: 5 * times,
  cacheWriteTokens: 0,
  usd: `0.00${15 * times}00`.slice(0, 8),
  usdMicros: 1500 * times,
});

/** What the tests look at in a list of steps. */
const brief = (turn: Turn | undefined) =>
  (turn?.steps ?? []).map(({ step, version, kind, status, name }) => [step, version, kind, status, name]);

describe("the tree of a session", () => {
  it("shows a finished turn with every step, its version, times and money", async () => {
    const log = sessionLog();
    await log.append(
      created(),
      turnStarted(1),
      replied(1, { text: "Let me look.", calls: [{}] }),
      callFinished(1, 0),
      replied(2, { text: "Clean." }),
      turnFinished(1, "Clean."),
    );
    expect(buildTree(await log.all())).toEqual({
      session: {
        id: address.sessionId,
        key: address.key,
        tenant: "acme",
        user: "ann",
        agent: "aml",
        status: "completed",
        version: 6,
        turn: 1,
        turnStatus: "completed",
        createdAt: seconds(0),
        lastUserAt: seconds(0),
        title: "Investigate C-1042",
        usage: usage(2),
      },
      turns: [
        {
          turn: 1,
          status: "completed",
          input: [{ type: "text", text: "Investigate C-1042" }],
          messages: [{ messageId: "m-1", at: seconds(0), user: "ann", via: "api", receipt: "completed" }],
          answer: "Clean.",
          startedAt: seconds(1),
          finishedAt: seconds(5),
          durationMs: 4000,
          endReason: "completed",
          usage: usage(2),
          steps: [
            {
              step: 1,
              version: 3,
              kind: "thought",
              status: "success",
              content: [{ type: "text", text: "Let me look." }],
              startedAt: seconds(1),
              finishedAt: seconds(2),
              durationMs: 1000,
              round: 1,
              model: "m1",
              usage: usage(1),
            },
            {
              step: 2,
              version: 3,
              kind: "action",
              status: "success",
              name: "fetch",
              content: [{ type: "call", id: "c1-0", name: "fetch", input: { id: "C-1042" } }],
              startedAt: seconds(2),
              finishedAt: seconds(3),
              durationMs: 1000,
              round: 1,
              callId: "c1-0",
              effect: "read",
            },
            {
              step: 3,
              version: 4,
              kind: "observation",
              status: "success",
              name: "fetch",
              content: [{ type: "text", text: "3 rows" }],
              output: { rows: 3 },
              startedAt: "2026-05-05T14:30:24.600Z",
              finishedAt: seconds(3),
              durationMs: 400,
              round: 1,
              callId: "c1-0",
              effect: "read",
            },
            {
              step: 4,
              version: 5,
              kind: "final",
              status: "success",
              content: [{ type: "text", text: "Clean." }],
              startedAt: seconds(3),
              finishedAt: seconds(4),
              durationMs: 1000,
              round: 2,
              model: "m1",
              usage: usage(1),
            },
          ],
        },
      ],
      waiting: [],
      handoff: null,
      approvals: [],
      openCalls: [],
    });
  });

  it("gives an action the version of its intent, and keeps it through a second attempt", async () => {
    const log = sessionLog();
    await log.append(created(), turnStarted(1), replied(1, { calls: [{ effect: "once" }, { effect: "once" }] }));
    expect(brief(buildTree(await log.all()).turns[0])).toEqual([
      [1, 3, "thought", "success", undefined],
      [2, 3, "action", "pending", "fetch"],
      [3, 3, "action", "pending", "fetch"],
    ]);
    await log.append(callStarted(1, 1), callStarted(1, 1, 2));
    const tree = buildTree(await log.all());
    expect(brief(tree.turns[0])[2]).toEqual([3, 4, "action", "executing", "fetch"]);
    expect(tree.turns[0]?.steps[2]?.attempts).toBe(2);
    expect(tree.openCalls.map(({ index, status, attempts }) => [index, status, attempts])).toEqual([
      [0, "pending", 0],
      [1, "started", 2],
    ]);
    expect(tree.session).toMatchObject({ status: "running", turnStatus: "processing" });
  });

  it("shows parallel calls in call order and their outcomes in the order they came", async () => {
    const log = sessionLog();
    const error = { name: "Boom", code: "unexpected", message: "boom" };
    await log.append(
      created(),
      turnStarted(1),
      replied(1, { calls: [{ tool: "a" }, { tool: "b" }] }),
      callFinished(1, 1, { status: "failed", error }),
      callFinished(1, 0),
    );
    const [turn] = buildTree(await log.all()).turns;
    expect(brief(turn)).toEqual([
      [1, 3, "thought", "success", undefined],
      [2, 3, "action", "success", "a"],
      [3, 3, "action", "failed", "b"],
      [4, 4, "observation", "failed", "fetch"],
      [5, 5, "observation", "success", "fetch"],
    ]);
    expect(turn?.steps[3]?.error).toEqual(error);
    expect(turn?.steps[3]).not.toHaveProperty("output");
  });

  it("shows a refused call as failed with the reason that the model was told (H31, H37)", async () => {
    const log = sessionLog();
    await log.append(created(), turnStarted(1), replied(1, { calls: [{ refused: "unknown tool" }] }));
    const [turn] = buildTree(await log.all()).turns;
    expect(turn?.steps[1]).toMatchObject({ kind: "action", status: "failed", error: { message: "unknown tool" } });
  });

  it("shows what waits for people, and no longer once it is decided", async () => {
    const log = sessionLog();
    await log.append(created(), turnStarted(1), replied(1, { calls: [{ effect: "once", gated: true }] }), {
      type: "approval.requested",
      round: 1,
      index: 0,
      approvalId: "ap1",
      kind: "call",
      tool: "fetch",
      inputHash: "h",
      approvers: ["boss@bank.example"],
      expiresAt: Date.parse(seconds(3600)),
    });
    const tree = buildTree(await log.all());
    expect(tree.session).toMatchObject({ status: "paused", turnStatus: "waiting_for_input" });
    expect(tree.turns[0]).toMatchObject({ status: "waiting_for_input" });
    expect(tree.turns[0]?.steps[1]?.approval).toEqual({ id: "ap1", kind: "call", status: "pending" });
    expect(tree.approvals).toEqual([
      {
        id: "ap1",
        sessionId: address.sessionId,
        tool: "fetch",
        input: { id: "C-1042" },
        inputHash: "h",
        requestedBy: "ann",
        approvers: ["boss@bank.example"],
        status: "pending",
        requestedAt: seconds(3),
        expiresAt: seconds(3600),
        decisions: [],
        kind: "call",
      },
    ]);
    await log.append({ type: "approval.decided", approvalId: "ap1", index: 0, status: "approved", decisions: [] });
    const after = buildTree(await log.all());
    expect(after.approvals).toEqual([]);
    expect(after.turns[0]?.steps[1]?.approval?.status).toBe("approved");
  });

  it("ends a turn that failed with a final step that says why, and cancels what was open", async () => {
    const log = sessionLog();
    const error = { name: "StepTimedOut", code: "step.timed_out", message: "too long" };
    await log.append(created(), turnStarted(1), replied(1, { calls: [{ effect: "once" }] }), callStarted(1, 0), {
      type: "turn.failed",
      turn: 1,
      endReason: "error",
      error,
      answer: "The turn failed.",
    });
    const tree = buildTree(await log.all());
    expect(brief(tree.turns[0])).toEqual([
      [1, 3, "thought", "success", undefined],
      [2, 4, "action", "cancelled", "fetch"],
      [3, 5, "final", "failed", undefined],
    ]);
    expect(tree.turns[0]).toMatchObject({ status: "error", endReason: "error", error });
    expect(tree.session.status).toBe("failed");
  });

  it("shows a failed try of the model as a failed thought", async () => {
    const log = sessionLog();
    const error = { name: "ModelOverloaded", code: "model.overloaded", message: "busy" };
    await log.append(created(), turnStarted(1), {
      type: "model.failed",
      round: 1,
      error,
      attempt: 1,
      retryAt: Date.parse(seconds(9)),
      partial: "Let",
    });
    const [turn] = buildTree(await log.all()).turns;
    expect(turn?.steps).toMatchObject([
      { step: 1, kind: "thought", status: "failed", error, content: [{ type: "text", text: "Let" }] },
    ]);
  });

  it("shows the steps of a flow by name, with the state after each", async () => {
    const log = sessionLog();
    await log.append(
      created(),
      turnStarted(1),
      { type: "flow.advanced", index: 0, name: "fetch", state: { n: 1 } },
      { type: "flow.advanced", index: 1, name: "sanction", state: { n: 1 }, skipped: true },
      {
        type: "flow.planned",
        round: 3,
        index: 2,
        name: "submit",
        content: [{ type: "call", id: "flow_1_2", name: "submit_report", input: { n: 1 } }],
        calls: [{ index: 0, id: "flow_1_2", tool: "submit_report", effect: "once", gated: false }],
      },
      callFinished(3, 0),
      { type: "flow.advanced", index: 2, name: "submit", state: { n: 2 } },
      turnFinished(1, "filed"),
    );
    const [turn] = buildTree(await log.all()).turns;
    expect(brief(turn)).toEqual([
      [1, 3, "observation", "success", "fetch"],
      [2, 4, "observation", "success", "sanction"],
      [3, 5, "action", "success", "submit_report"],
      [4, 6, "observation", "success", "fetch"],
      [5, 7, "observation", "success", "submit"],
      [6, 8, "final", "success", undefined],
    ]);
    expect(turn?.steps[1]?.skipped).toBe(true);
    expect(turn?.steps[4]?.output).toEqual({ n: 2 });
  });

  it("marks what a rollback took out of the context", async () => {
    const log = sessionLog();
    await log.append(created(), turnStarted(1), replied(1, { text: "one" }), turnFinished(1, "one"));
    await log.append(turnStarted(2), replied(1, { calls: [{}] }));
    await log.append({ type: "rolled.back", to: 4, by: "ann", endReason: "rolled_back", sideEffects: [] });
    const tree = buildTree(await log.all());
    expect(tree.turns.map(({ turn, status, endReason, rolledBack }) => [turn, status, endReason, rolledBack])).toEqual([
      [1, "completed", "completed", undefined],
      [2, "error", "rolled_back", true],
    ]);
    expect(brief(tree.turns[1])[1]).toEqual([2, 6, "action", "cancelled", "fetch"]);
    expect(tree.turns[1]?.steps.every((step) => step.rolledBack)).toBe(true);
  });

  it("shows lineage, suspension and the mark for resume", async () => {
    const log = sessionLog();
    const parent = { sessionId: "20260504_143022_a1b2c3d4", version: 9 };
    await log.append({ ...created(), parent } as ReturnType<typeof created>, {
      type: "session.resume_marked",
      cause: "shutdown",
    });
    expect(buildTree(await log.all()).session).toMatchObject({
      parent,
      resumePending: { cause: "shutdown", at: seconds(1) },
      status: "created",
    });
    await log.append({ type: "session.suspended", cause: "stopped: enough" });
    const { session } = buildTree(await log.all());
    expect(session).toMatchObject({ status: "suspended", suspended: { cause: "stopped: enough", at: seconds(2) } });
    expect(session).not.toHaveProperty("resumePending");
    await log.append({ type: "session.closed", reason: "suspended" });
    expect(buildTree(await log.all()).session).toMatchObject({ status: "closed", closedBy: "suspended" });
  });

  it("numbers the steps of a turn 1, 2, 3 … with rising versions, whatever calls there are", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 6 }), async (rounds) => {
        const log = sessionLog();
        await log.append(created(), turnStarted(1));
        for (const [i, calls] of rounds.entries()) {
          await log.append(
            replied(i + 1, { text: "t", calls: Array.from({ length: calls }, () => ({})), stop: "pause_turn" }),
          );
          for (let index = calls - 1; index >= 0; index--) await log.append(callFinished(i + 1, index));
        }
        await log.append(replied(rounds.length + 1, { text: "end" }), turnFinished(1));
        const [turn] = buildTree(await log.all()).turns;
        const steps = turn?.steps ?? [];
        expect(steps.map((step) => step.step)).toEqual(steps.map((_, i) => i + 1));
        expect(steps.map((step) => step.version)).toEqual(steps.map((step) => step.version).toSorted((a, b) => a - b));
        expect(steps.filter((step) => step.kind === "final")).toHaveLength(1);
      }),
      { numRuns: 30 },
    );
  });
});
