// H44: a model that says "not now", over the wire, through the real steps and machine.
import { defineAgent } from "baton";
import { afterEach, describe, expect, it } from "vitest";
import { sweepDue } from "../../lib/sessions/sweep.ts";
import { settledTurn } from "../../lib/sessions/wait.ts";
import { type Wired, wired } from "../support/wired-model.ts";

const agent = defineAgent({ name: "patient", instructions: "Answer.", model: { id: "claude-haiku-4-5" } });
const answer = { text: "here" };

describe("a model that refuses for now", () => {
  let at: Wired;
  afterEach(() => at.close());

  const date = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();
  const short: { retryAfter: string | number | undefined; ms: [number, number] }[] = [
    { retryAfter: 1, ms: [1000, 1000] },
    { retryAfter: 16, ms: [16_000, 16_000] },
    { retryAfter: date(20), ms: [18_000, 20_000] },
    { retryAfter: date(-20), ms: [1000, 1000] },
    { retryAfter: -5, ms: [1000, 1000] },
    { retryAfter: 0, ms: [1000, 1000] },
    { retryAfter: "soon", ms: [1000, 1000] },
    { retryAfter: undefined, ms: [1000, 1000] },
  ];
  for (const { retryAfter, ms } of short) {
    it(`with retry-after ${retryAfter} is asked again after the machine's Wait (H44)`, async () => {
      at = await wired([agent], [{ fault: 429, ...(retryAfter === undefined ? {} : { retryAfter }) }, answer]);
      const { sessionId, end } = await at.turn("go");
      expect(end).toMatchObject({ endReason: "completed", answer: "here" });
      const [failed] = await at.events(sessionId, "model.failed");
      const wait = (failed?.retryAt ?? 0) - (failed?.at ?? 0);
      expect(wait).toBeGreaterThanOrEqual(ms[0]);
      expect(wait).toBeLessThanOrEqual(ms[1]);
      expect(at.entered.Wait).toBe(Math.ceil(wait / 1000));
      expect(at.server.requests.length).toBe(2);
    });
  }

  it("for hours ends the segment with a due time; the sweeper goes on, and the turn's clock stood still (H44)", async () => {
    at = await wired([agent], [{ fault: 429, retryAfter: 13_262 }, answer]);
    const { sessionId, end } = await at.turn("go");
    expect([end, at.entered.Wait, at.interpreter.running()]).toEqual([null, undefined, []]);
    const [failed] = await at.events(sessionId, "model.failed");
    const due = failed?.retryAt ?? 0;
    expect(due - (failed?.at ?? 0)).toBe(13_262_000);
    const { rows } = await at.deps.store.statuses.due(Number.MAX_SAFE_INTEGER);
    expect(rows.map((row) => row.due)).toEqual([due]);

    at.clock.set(due - 1);
    expect(await sweepDue(at.deps, { before: at.clock.now(), cause: "stuck", slot: "early" })).toEqual({});
    at.clock.set(due);
    expect(await sweepDue(at.deps, { before: at.clock.now(), cause: "stuck", slot: "due" })).toEqual({ resumed: 1 });
    await at.idle();
    // 221 minutes; the agent may work for 120.
    expect(await settledTurn(at.deps, "acme", sessionId, 1)).toMatchObject({ endReason: "completed", answer: "here" });
    const [resumed] = await at.events(sessionId, "session.resumed");
    expect(resumed?.cause).toBe("due");
    const [finished] = (await at.log(sessionId)).slice(-1);
    expect(finished?.state.recoveries).toBe(0);
  });

  it("for hours does not hold up a stop (H44, H74)", async () => {
    at = await wired([agent], [{ fault: 429, retryAfter: 13_262 }]);
    const { sessionId } = await at.turn("go");
    const { stopSession } = await import("../../lib/sessions/control.ts");
    await stopSession(at.deps, { tenant: "acme", sessionId, user: "ann" }, { reason: "enough" });
    await sweepDue(at.deps, { before: at.clock.now(), cause: "stuck", slot: "now" });
    await at.idle();
    expect(await settledTurn(at.deps, "acme", sessionId, 1)).toMatchObject({ endReason: "stopped" });
  });

  it("eight times with 529 is waited for, longer each time, up to a minute (H44)", async () => {
    at = await wired([agent], [...Array.from({ length: 8 }, () => ({ fault: 529 as const })), answer]);
    const { sessionId, end } = await at.turn("go");
    expect(end).toMatchObject({ endReason: "completed", answer: "here" });
    const failures = await at.events(sessionId, "model.failed");
    expect(failures.map(({ attempt, at, retryAt = 0, error }) => [attempt, retryAt - at, error.name])).toEqual(
      [1, 2, 4, 8, 16, 32, 60, 60].map((seconds, i) => [i + 1, seconds * 1000, "ModelOverloaded"]),
    );
  });

  it("for ever ends the turn with the provider's words, after ten tries (H44)", async () => {
    at = await wired(
      [agent],
      Array.from({ length: 12 }, () => ({ fault: 529 as const, message: "Overloaded today" })),
    );
    const { end } = await at.turn("go");
    expect(end).toMatchObject({ status: "error", endReason: "error" });
    expect(end?.answer).toContain("Overloaded today");
    expect(at.server.requests.length).toBe(10);
  });

  it("tells one session of a tenant, and the others wait without asking; other tenants do not (H44)", async () => {
    at = await wired([agent], [{ fault: 429, retryAfter: 3000 }, answer, answer, answer, answer]);
    const first = await at.turn("one", { key: "agent:a" });
    const others = [await at.turn("two", { key: "agent:b" }), await at.turn("two", { key: "agent:c", user: "bob" })];
    const foreign = await at.send("three", { key: "agent:d", tenant: "globex" });
    await at.idle();
    expect(await settledTurn(at.deps, "globex", foreign.sessionId, 1)).toMatchObject({ answer: "here" });
    expect(at.server.requests.length).toBe(2);
    const [mine] = await at.events(first.sessionId, "model.failed");
    for (const { sessionId } of others) {
      const failures = await at.events(sessionId, "model.failed");
      expect(failures.map(({ error, attempt }) => [error.name, attempt])).toEqual([["ModelRateLimited", 0]]);
      expect(failures[0]?.retryAt).toBeGreaterThanOrEqual(mine?.retryAt ?? 0);
      expect(failures[0]?.retryAt).toBeLessThanOrEqual((mine?.retryAt ?? 0) + 5000);
    }
    at.clock.set((mine?.retryAt ?? 0) + 5000);
    await sweepDue(at.deps, { before: at.clock.now(), cause: "stuck", slot: "open" });
    await at.idle();
    for (const { sessionId } of [first, ...others]) {
      expect(await settledTurn(at.deps, "acme", sessionId, 1)).toMatchObject({ answer: "here" });
    }
    // The one that was refused, and one for each of the four sessions.
    expect(at.server.requests.length).toBe(5);
  });

  it("is known to a process that was not there when it said so (H44)", async () => {
    at = await wired([agent], [{ fault: 429, retryAfter: 16 }, answer, answer]);
    const until = at.clock.now() + 16_000;
    await at.deps.store.limiters.block("acme", "claude-haiku-4-5", until);
    await at.deps.store.limiters.block("acme", "claude-haiku-4-5", until - 5000);
    const later = await wired([agent], [], { server: at.server, table: at.table, blobs: at.blobs, clock: at.clock });
    const { sessionId } = await later.send("two", { key: "agent:b" });
    await later.idle();
    const [held] = await later.events(sessionId, "model.failed");
    expect(held?.retryAt).toBeGreaterThanOrEqual(until);
  });
});
