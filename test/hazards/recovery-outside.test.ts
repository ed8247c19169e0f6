// Recovery outside the execution: what an ended execution leaves is taken up at once, or by the sweeper when nobody was
// told (H22, H26, H72, G1).
import { defineAgent, defineTool } from "baton";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { runNow } from "../../lib/batch/run-now.ts";
import { afterExecution, type EndedExecution } from "../../lib/recovery/after-execution.ts";
import { readExecutionEvent } from "../../lib/recovery/execution-event.ts";
import { sweepAll } from "../../lib/recovery/sweep-all.ts";
import { type Embedded, embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { Crash, createFaultyTable, type FaultPlan } from "../../lib/testing/faulty-table.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";
import { define, runsOf } from "../batch/task-world.ts";
import { newWitness, relayAgent, relayScript } from "../support/relay-agent.ts";

function world() {
  const clock = fakeClock();
  const base = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  const witness = newWitness();
  let processes = 0;
  const start = (plan: FaultPlan = []) => {
    const table = createFaultyTable(base, plan);
    const executions: string[] = [];
    const process = embed({
      agents: [relayAgent(witness)],
      model: replayModel(relayScript),
      table,
      blobs,
      clock,
      ids: seededIds(`process ${++processes}`),
      onEvent: (event) => {
        if (event.kind === "started" || event.kind === "failed") executions.push(`${event.kind} ${event.execution}`);
      },
    });
    return { ...process, executions, dead: () => table.dead };
  };
  return { clock, start, witness };
}

/** A turn whose execution is gone after its third reply, and nobody was told. */
async function lost(start: ReturnType<typeof world>["start"]) {
  let replies = 0;
  const first = start([{ fault: "death before", on: ({ item }) => item?.type === "model.replied" && ++replies === 3 }]);
  const { sessionId } = await first.send("go");
  await first.idle();
  const second = start();
  const head = await second.deps.store.log.head("acme", sessionId);
  const owner = head?.state.turn?.owner ?? "";
  const ended: EndedExecution = {
    tenant: "acme",
    sessionId,
    execution: owner,
    status: "FAILED",
    eventId: "8f14e45f-ceea",
  };
  return { second, sessionId, ended };
}

const lastEvent = async (process: Embedded, sessionId: string) =>
  (await process.deps.store.log.events("acme", sessionId, 0)).at(-1)?.event;

describe("an execution that failed outside of what it could catch", () => {
  it.each([
    ["FAILED", "execution_failed"],
    ["TIMED_OUT", "execution_timed_out"],
    ["ABORTED", "execution_aborted"],
  ] as const)(
    "%s: the turn goes on at once, with the cause in the log, and nothing runs twice (G1, G2)",
    async (status, cause) => {
      const { start, witness } = world();
      const { second, sessionId, ended } = await lost(start);
      expect((await afterExecution(second.deps, { ...ended, status })).recovered).toBe("resumed");
      await second.idle();
      const events = await second.deps.store.log.events("acme", sessionId, 0);
      expect(events.flatMap(({ event }) => (event.type === "session.resumed" ? [event.cause] : []))).toEqual([cause]);
      expect(events.at(-1)?.event).toMatchObject({ type: "turn.finished", answer: "Done: R-5." });
      expect([...witness.filed.values()]).toEqual([1]);
    },
  );

  it("told twice in one instant, and again later, starts one execution", async () => {
    const { start } = world();
    const { second, ended } = await lost(start);
    await Promise.all([afterExecution(second.deps, ended), afterExecution(second.deps, ended)]);
    await second.idle();
    await afterExecution(second.deps, ended);
    await second.idle();
    expect(second.executions.filter((line) => line.startsWith("started"))).toHaveLength(1);
  });

  it("told late, when another execution owns the turn, changes nothing", async () => {
    const { start } = world();
    const { second, sessionId, ended } = await lost(start);
    await second.boot("boot");
    expect((await afterExecution(second.deps, ended)).recovered).toBe("left");
    await second.idle();
    expect(await lastEvent(second, sessionId)).toMatchObject({ type: "turn.finished" });
    const events = await second.deps.store.log.events("acme", sessionId, 0);
    expect(events.filter(({ event }) => event.type === "session.resumed")).toHaveLength(1);
  });

  it("never told: the sweeper finds the turn without an owner (H26)", async () => {
    const { clock, start } = world();
    const { second, sessionId } = await lost(start);
    await clock.advance(60_000);
    expect(await second.sweep()).toEqual({});
    await clock.advance(15 * 60_000);
    expect(await second.sweep()).toEqual({ resumed: 1 });
    await second.idle();
    expect(await lastEvent(second, sessionId)).toMatchObject({ type: "turn.finished" });
  });

  it("whose store is away before it owned the turn is not followed at once by another: the sweeper comes back to it", async () => {
    const { clock, start } = world();
    let away = true;
    const process = start([
      {
        fault: "lost request",
        on: ({ item }) => away && item?.type === "turn.started",
        times: Number.MAX_SAFE_INTEGER,
      },
    ]);
    const { sessionId } = await process.send("go");
    await process.idle();
    const started = () => process.executions.filter((line) => line.startsWith("started")).length;
    const before = started();
    expect(before).toBeLessThanOrEqual(2);
    away = false;
    await clock.advance(61_000);
    await process.sweep();
    await process.idle();
    expect(await lastEvent(process, sessionId)).toMatchObject({ type: "turn.finished" });
    expect(started()).toBe(before + 1);
  });
});

describe("the status event of an execution", () => {
  const event = {
    id: "315c1398-40ff-a850-213b-158f73e60175",
    source: "aws.states",
    "detail-type": "Step Functions Execution Status Change",
    detail: {
      name: "abc-t1-s0",
      status: "TIMED_OUT",
      input: JSON.stringify({ tenant: "acme", sessionId: "20261130_120000_0000000a", turn: 1, segment: 0, cause: "" }),
    },
  };

  it("says what ended and of whom", () => {
    expect(readExecutionEvent(event)).toEqual({
      tenant: "acme",
      sessionId: "20261130_120000_0000000a",
      execution: "abc-t1-s0",
      status: "TIMED_OUT",
      eventId: "315c1398-40ff-a850-213b-158f73e60175",
    });
  });

  it.each([
    [{}],
    [{ ...event, detail: { ...event.detail, status: "RUNNING" } }],
    [{ ...event, detail: { ...event.detail, input: "not json" } }],
    [
      {
        ...event,
        detail: { ...event.detail, input: JSON.stringify({ tenant: "a#b", sessionId: "20261130_120000_0000000a" }) },
      },
    ],
    [{ ...event, detail: { ...event.detail, input: JSON.stringify({ tenant: "acme", sessionId: "x" }) } }],
  ])("is refused when it is none: %#", (bad) => {
    expect(() => readExecutionEvent(bad)).toThrow(expect.objectContaining({ name: "InvalidInput" }));
  });
});

describe("one run of the sweeper", () => {
  it("is bounded, and the next one goes on where it had to stop: each row is looked at once", async () => {
    const { clock, start } = world();
    const first = start([{ fault: "death before", on: ({ item }) => item?.type === "turn.started" }]);
    for (let i = 0; i < 120; i++) {
      await first.deps.store.statuses.write(
        { ...(await emptyState(first, i)), sessionId: `20261130_120000_${String(i).padStart(8, "0")}` },
        1,
        clock.now(),
        clock.now() - 1000 + i,
      );
    }
    const seen: number[] = [];
    let cursor: string | undefined;
    for (let run = 0; run < 5; run++) {
      const swept = await sweepAll(first.deps, {
        before: clock.now(),
        cause: "stuck",
        slot: `run-${run}`,
        goOn: () => false,
        ...(cursor === undefined ? {} : { from: cursor }),
      });
      seen.push(Object.values(swept.counts).reduce((sum, count) => sum + count, 0));
      cursor = swept.cursor;
      if (cursor === undefined) break;
    }
    expect(seen).toEqual([50, 50, 20]);
  });
});

async function emptyState(process: Embedded, i: number) {
  const head = await process.deps.store.log.append(
    null,
    {
      type: "session.created",
      tenant: "acme",
      sessionId: `20261130_110000_${String(i).padStart(8, "0")}`,
      key: `agent:relay:${i}`,
      user: "ann",
      agent: "relay",
      reason: "first",
    },
    { next: () => `w${i}` },
  );
  return head.state;
}

describe("a batch turn that outlasts its worker (H22)", () => {
  it("sends its mail once over all attempts, goes on from its last step, and its slot says how it ended", async () => {
    const clock = fakeClock();
    const base = createMemoryTable({ now: () => clock.now() });
    const blobs = createMemoryBlobs();
    const mails: string[] = [];
    const lookups: string[] = [];
    let killed = false;
    const mail = defineTool({
      name: "mail",
      description: "mails",
      input: z.object({}),
      effect: "once",
      run: (_input, ctx) => {
        mails.push(ctx.idempotencyKey);
        return { sent: true };
      },
    });
    const work = defineTool({
      name: "work",
      description: "works",
      input: z.object({ n: z.int() }),
      effect: "read",
      run: ({ n }) => {
        lookups.push(`work ${n}`);
        if (n === 3 && !killed) {
          killed = true;
          throw new Crash("the worker is over its time");
        }
        return { n };
      },
    });
    const reporter = defineAgent({ name: "reporter", instructions: "x", model: { id: "m" }, tools: [mail, work] });
    const model = () =>
      replayModel([
        { calls: [{ name: "work", input: { n: 1 } }] },
        { calls: [{ name: "mail", input: {} }] },
        { calls: [{ name: "work", input: { n: 3 } }] },
        { text: "Mailed." },
      ]);
    const start = (seed: string) => {
      const mine = { dead: false };
      const table = createFaultyTable(base, [
        { fault: "death before", on: () => (mine.dead ||= killed && seed === "first") },
      ]);
      return embed({ agents: [reporter], model: model(), table, blobs, clock, ids: seededIds(seed) });
    };
    const first = start("first");
    await define(first, { name: "nightly" });
    await runNow(first.deps, { tenant: "acme", name: "nightly" }, "r-1").catch(() => {});
    await first.idle();
    const second = start("second");
    expect((await runsOf(second, "nightly")).map(({ status }) => status)).toEqual(["claimed"]);
    await second.boot("boot");
    await second.idle();
    await clock.advance(10 * 60_000);
    await second.sweep();
    expect(mails).toHaveLength(1);
    expect(lookups).toEqual(["work 1", "work 3", "work 3"]);
    expect(await runsOf(second, "nightly")).toMatchObject([{ status: "done", outcome: "completed" }]);
  });
});
