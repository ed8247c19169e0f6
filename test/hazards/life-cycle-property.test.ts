// No sequence of messages, crashes, restarts, sweeps, resets, stops and steps of the clock breaks the rules of the life
// cycle.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import type { Checkpoint } from "../../lib/core/checkpoint.ts";
import { isDisposition } from "../../lib/core/errors.ts";
import type { Table } from "../../lib/ports/table.ts";
import type { BusyPolicy } from "../../lib/sessions/accept.ts";
import { stopSession } from "../../lib/sessions/control.ts";
import { resetSession } from "../../lib/sessions/reset-session.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";
import { allTurns, hour, key, lifeCycleWorld, minute, tenant, type World } from "../support/life-cycle-world.ts";

type Action =
  | { do: "message"; busy: BusyPolicy; work: boolean }
  /** The process dies at its n-th write from here; the next action comes to a new one, which has swept. */
  | { do: "crash"; write: number }
  | { do: "restart" }
  | { do: "sweep" }
  | { do: "reset" }
  | { do: "stop" }
  | { do: "clock"; ms: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("message" as const),
      busy: fc.constantFrom("enqueue" as const, "steer" as const, "interrupt" as const),
      work: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("crash" as const), write: fc.integer({ min: 1, max: 25 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("restart" as const, "sweep" as const, "reset" as const, "stop" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("clock" as const),
      ms: fc.constantFrom(-hour, minute, 20 * minute, hour, 17 * hour, 25 * hour, 9 * 24 * hour),
    }),
  },
);

type Sent = { text: string; id: string; acknowledged: boolean; notice?: string; sessionId?: string };

/** Plays the actions without waiting for the work in between, then lets everything come to rest. */
async function play(actions: readonly Action[], reset: "off" | "idle" | "both") {
  const clock = fakeClock();
  const base = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  const sent: Sent[] = [];
  let lives = 0;
  let dead = () => false;
  const live = (table: Table): World =>
    lifeCycleWorld({ clock, table, blobs, ids: seededIds(`life ${lives++}`), session: { reset } });
  let world = live(base);
  const restart = async () => {
    await world.app.stop(0).catch(() => {});
    dead = () => false;
    world = live(base);
    await world.app.boot(`boot${lives}`);
  };
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    for (let tries = 0; tries < 5; tries++) {
      try {
        await work();
        return true;
      } catch (error) {
        if (dead()) {
          await restart();
        } else if (isDisposition(error, "Misuse")) return false;
        else if (!isDisposition(error, "Transient")) throw error;
      }
    }
    throw new Error("does not come through");
  };
  const current = async () =>
    (await base.get({ pk: `${tenant}#key:${encodeURIComponent(key)}`, sk: "LAST" }))?.sessionId;

  for (const step of actions) {
    const sessionId = await current();
    const at = { tenant, sessionId: String(sessionId), user: "ann" };
    switch (step.do) {
      case "message": {
        const one: Sent = {
          text: step.work ? `work ${sent.length}` : `M${sent.length}`,
          id: `r${sent.length}`,
          acknowledged: false,
        };
        sent.push(one);
        await attempt(async () => {
          const accepted = await world.send(one.text, { busy: step.busy, idempotencyKey: one.id });
          one.acknowledged = true;
          one.sessionId = accepted.sessionId;
          if (accepted.notice) one.notice = accepted.notice.reason;
        });
        break;
      }
      case "crash": {
        await world.app.stop(0).catch(() => {});
        const table = createFaultyTable(base, [{ fault: "death before", on: step.write }]);
        dead = () => table.dead;
        world = live(table);
        await world.app.boot(`boot${lives}`).catch(() => {});
        break;
      }
      case "restart":
        await restart();
        break;
      case "sweep":
        await attempt(() => world.app.sweep(`s${lives}-${sent.length}-${clock.now()}`));
        break;
      case "reset":
        if (sessionId) await attempt(() => resetSession(world.app.deps, at));
        break;
      case "stop":
        if (sessionId) await attempt(() => stopSession(world.app.deps, at));
        break;
      case "clock":
        if (step.ms < 0) clock.set(clock.now() + step.ms);
        else await clock.advance(step.ms);
    }
  }
  await restart();
  await world.app.idle();
  // What a stop holds back runs with the next message, as everything does.
  const last: Sent = { text: `M${sent.length}`, id: `r${sent.length}`, acknowledged: false };
  sent.push(last);
  await attempt(async () => {
    const accepted = await world.send(last.text, { idempotencyKey: last.id });
    last.acknowledged = true;
    last.sessionId = accepted.sessionId;
    if (accepted.notice) last.notice = accepted.notice.reason;
  });
  await world.app.idle();
  for (let late = 0; late < 4; late++) {
    await clock.advance(20 * minute);
    await world.app.sweep(`late${late}`);
    await world.app.idle();
  }
  return { world, sent, logs: await logsOf(world) };
}

/** The log of every session of the key, by session, in no order. */
async function logsOf(world: World): Promise<Map<string, Checkpoint[]>> {
  const logs = new Map<string, Checkpoint[]>();
  const { rows } = await world.app.deps.store.statuses.recent(tenant, { limit: 200 });
  let ids = rows.map((row) => row.sessionId);
  while (ids.length > 0) {
    const [id = "", ...rest] = ids;
    ids = rest;
    if (logs.has(id)) continue;
    const log = await world.app.deps.store.log.events(tenant, id, 0);
    logs.set(id, log);
    const parent = log[0]?.state.parent?.sessionId;
    if (parent) ids.push(parent);
  }
  return logs;
}

describe("the life cycle", () => {
  it("holds for any sequence: one reason, one notice, each message in one turn (G4, G7, G11, H60, H14, H16)", {
    timeout: 180_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 1, maxLength: 14 }),
        fc.constantFrom("off" as const, "idle" as const, "both" as const),
        async (actions, reset) => {
          const { world, sent, logs } = await play(actions, reset);
          const sessions = [...logs.values()];

          // Versions without gap; events of a session only while it is open; one last word.
          for (const log of sessions) {
            expect(log.map(({ version }) => version)).toEqual(log.map((_, i) => i + 1));
            const closings = log.filter(({ event }) => event.type === "session.closed");
            expect(closings.length).toBeLessThanOrEqual(1);
            const after = log.slice(log.findIndex(({ event }) => event.type === "session.closed") + 1);
            if (closings.length > 0)
              expect(after.filter(({ event }) => !event.type.startsWith("approval."))).toEqual([]);
          }

          // A chain: every closed session has one successor, which names it and has the reason that it was closed for.
          const firsts = sessions.filter((log) => !log[0]?.state.parent);
          expect(firsts).toHaveLength(1);
          for (const log of sessions) {
            const closed = log.find(({ event }) => event.type === "session.closed");
            const children = sessions.filter((other) => other[0]?.state.parent?.sessionId === log[0]?.sessionId);
            expect(children.map((child) => child[0]?.sessionId)).toEqual(
              closed?.event.type === "session.closed" ? [closed.event.successor] : [],
            );
            const [child] = children;
            if (!child || closed?.event.type !== "session.closed") continue;
            expect(child[0]?.event).toMatchObject({ reason: closed.event.reason, parent: { version: closed.version } });
            // Suspended beats everything: a session that was suspended when it was closed was so for that reason, or on request.
            const before = log[closed.version - 2]?.state;
            if (before?.lifecycle.kind === "suspended")
              expect(["suspended", "requested"]).toContain(closed.event.reason);
            if (reset === "off") expect(["suspended", "requested"]).toContain(closed.event.reason);
          }

          // Each acknowledged message is in exactly one turn, all others in at most one.
          const [first] = firsts;
          const texts = (await allTurns(world.app, first?.[0]?.sessionId ?? "")).flatMap((turn) => turn.texts);
          expect(texts.toSorted()).toEqual([...new Set(texts)].toSorted());
          for (const one of sent) if (one.acknowledged) expect(texts).toContain(one.text);
          // In order among those that never join a running turn.
          const plain = sent.flatMap((one, i) => {
            const step = actions.filter((candidate) => candidate.do === "message")[i];
            return one.acknowledged && step?.busy !== "steer" ? [one.text] : [];
          });
          expect(texts.filter((text) => plain.includes(text))).toEqual(plain);

          // At most one notice for each session, with its reason.
          for (const log of sessions) {
            const told = sent.filter((one) => one.notice && one.sessionId === log[0]?.sessionId);
            expect(told.length).toBeLessThanOrEqual(1);
            const [event] = log.map((checkpoint) => checkpoint.event);
            if (told[0] && event?.type === "session.created") expect(told[0].notice).toBe(event.reason);
          }

          // The last message has come to its end: nothing is stuck.
          const head = await world.app.deps.store.log.head(tenant, sent.at(-1)?.sessionId ?? "");
          expect(head?.state.turn).toBeNull();
        },
      ),
      { numRuns: 120 },
    );
  });
});
