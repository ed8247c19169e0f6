// A tool that kills its process each time, among sessions that were only there: it is found alone, and it alone is
// given up (H26). Processes follow one another over one table; a kill is the death of the table's wrapper.
import { setImmediate } from "node:timers/promises";
import { defineAgent, defineTool } from "baton";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { maxRecoveries } from "../../lib/core/limits.ts";
import type { SessionState } from "../../lib/core/state.ts";
import { recoverAtBoot } from "../../lib/recovery/recover-at-boot.ts";
import { sweepAll } from "../../lib/recovery/sweep-all.ts";
import { type Embedded, embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { Crash, createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";
import { createGate } from "../support/life-cycle-world.ts";

const innocents = 5;
const input = z.object({});

type Process = Embedded & { alive(): boolean };

/** `slow`: the innocent tool stands still while it is held. Kills count runs of the bomb. */
function world(options: { bombDies?: boolean } = {}) {
  const clock = fakeClock();
  const base = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  const slow = createGate();
  const started: string[] = [];
  let processes = 0;
  let current = { dead: false };
  const kill = (): never => {
    current.dead = true;
    throw new Crash("the process is dead");
  };
  const bomb = defineTool({
    name: "bomb",
    description: "kills",
    input,
    effect: "idempotent",
    run: () => {
      started.push("bomb");
      return options.bombDies === false ? {} : kill();
    },
  });
  const crawl = defineTool({
    name: "crawl",
    description: "takes its time",
    input,
    effect: "idempotent",
    timeout: "10m",
    run: async (_, { key }) => {
      started.push(key);
      await slow.pass();
      return {};
    },
  });
  const agent = (name: string, tool: typeof bomb) =>
    defineAgent({ name, instructions: "x", model: { id: name }, tools: [tool] });
  const start = (): Process => {
    const life = { dead: false };
    current = life;
    const table = createFaultyTable(base, [{ fault: "death before", on: () => life.dead }]);
    const model = {
      reply: (request: Parameters<ReturnType<typeof replayModel>["reply"]>[0]) =>
        replayModel([{ calls: [{ name: request.model, input: {} }] }, { text: "Done." }]).reply(request, {}),
    };
    const ids = seededIds(`process ${++processes}`);
    const agents = [agent("bomb", bomb), agent("crawl", crawl)];
    return { ...embed({ agents, model, table, blobs, clock, ids }), alive: () => !life.dead };
  };
  return { clock, slow, started, start, kill: () => (current.dead = true), clear: () => started.splice(0) };
}

async function until(check: () => boolean, what: string): Promise<void> {
  for (let turn = 0; !check(); turn++) {
    if (turn > 20_000) throw new Error(`it never came to this: ${what}`);
    await setImmediate();
  }
}

/** Lets everything that needs no time happen. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await setImmediate();
}

const stateOf = async (process: Process, sessionId: string): Promise<SessionState | undefined> =>
  (await process.deps.store.log.head("acme", sessionId))?.state;

async function sendAll(process: Process): Promise<{ bomb: string; crawls: string[] }> {
  const crawls: string[] = [];
  for (let n = 0; n < innocents; n++) {
    crawls.push((await process.send("go", { key: `agent:crawl:${n}`, agent: "crawl" })).sessionId);
  }
  const { sessionId } = await process.send("go", { key: "agent:bomb", agent: "bomb" });
  return { bomb: sessionId, crawls };
}

describe("recovery at boot", () => {
  it("gives the killer up and none of the sessions whose tools are still running when it kills (H26)", async () => {
    const { clock, slow, started, start } = world();
    slow.hold();
    let process = start();
    const ids = await sendAll(process);
    await until(() => !process.alive(), "the first death");
    let deaths = 1;
    for (;;) {
      process = start();
      const boot = await recoverAtBoot(process.deps, { slot: `boot-${deaths}` });
      const done = boot.goOn();
      for (let wait = 0; wait <= innocents + 1 && process.alive(); wait++) {
        await quiet();
        await clock.advance(10_000);
      }
      if (process.alive()) {
        await done;
        break;
      }
      deaths++;
    }
    expect(deaths).toBe(maxRecoveries + 1);
    expect(started.filter((key) => key === "bomb")).toHaveLength(maxRecoveries + 1);
    slow.open();
    await process.idle();
    expect((await stateOf(process, ids.bomb))?.lifecycle).toMatchObject({
      kind: "suspended",
      cause: "gave up after 3 recoveries while running bomb",
    });
    for (const id of ids.crawls) {
      const state = await stateOf(process, id);
      expect([state?.lifecycle.kind, state?.lastTurn?.endReason]).toEqual(["open", "completed"]);
    }
    const fresh = await process.send("go", { key: "agent:bomb" });
    expect(fresh).toMatchObject({ turn: 1, notice: { reason: "suspended" } });
  });

  it("lets a suspect run alone until it has committed a step, then the next one (H26)", async () => {
    const { slow, started, start, kill, clear } = world({ bombDies: false });
    slow.hold();
    let process = start();
    await sendAll(process);
    await until(() => started.length === innocents + 1, "all tools running");
    for (const slot of ["first", "second"]) {
      kill();
      process = start();
      clear();
      const boot = await recoverAtBoot(process.deps, { slot });
      void boot.goOn();
      await quiet();
      if (slot === "first") expect([boot.counts.resumed, started.length]).toEqual([innocents, innocents]);
      else expect([boot.counts.held, started.length]).toEqual([innocents, 1]);
    }
    slow.open();
    await until(() => started.length === innocents, "the others have gone on");
    await process.idle();
  });

  it("keeps the sweeper's hands off the suspects whose turn has not come (H26)", async () => {
    const { clock, slow, started, start, kill, clear } = world();
    slow.hold();
    let process = start();
    for (const n of [0, 1]) await process.send("go", { key: `agent:crawl:${n}`, agent: "crawl" });
    await until(() => started.length === 2, "all tools running");
    for (const slot of ["first", "second"]) {
      kill();
      process = start();
      clear();
      const boot = await recoverAtBoot(process.deps, { slot });
      if (slot === "second") {
        const late = { before: clock.now() + 3_600_000, cause: "stuck" as const, slot: "sweep" };
        expect((await sweepAll(process.deps, { ...late, hold: boot.hold })).counts).toEqual({ held: 2 });
        expect((await sweepAll(process.deps, late)).counts).toEqual({ resumed: 2 });
      }
      await quiet();
    }
    slow.open();
    await process.idle();
  });
});
