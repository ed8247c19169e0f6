// One episode of the soak test: 200 sessions talk to workers that die, are followed by others, lose answers, get the same
// message twice and at once, under a clock that is set forth and back. Everything follows from the seed, as far as the
// event loop lets it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { createSqliteTable } from "../../lib/adapters/sqlite-table.ts";
import type { Table } from "../../lib/ports/table.ts";
import { type Accepted, acceptMessage } from "../../lib/sessions/accept.ts";
import { createStore } from "../../lib/store/index.ts";
import { type FakeClock, fakeClock } from "../../lib/testing/fake-clock.ts";
import { checkSessions, type Findings } from "./check-sessions.ts";
import { createRandom, type Random } from "./random.ts";
import { newWitness, type Plan, planFor, textOf } from "./soak-agent.ts";
import { createWorkers, type Variant, type Worker, type Workers } from "./soak-workers.ts";

export type Episode = Findings & { seed: number; variant: string; deaths: number; duplicates: number };

/** A person's message, sent until it was accepted. */
export type Message = { session: number; n: number; plan: Plan; steers: boolean; accepted?: Accepted };

export const sessionCount = 200;
const messagesEach = 2;
/** Requests at a time. */
const mostUnderWay = 24;
/** What passes in each turn of the event loop, and what the clock is set forth or back by. */
const tickMs = 200;
const stepMs = 2000;
/** Only while no tool runs: see `timeout` in soak-agent.ts. */
const jumpMs = 20 * 60_000;
/** Rounds of sweeping at the end, each a while later, within which everything must have come to its end. */
const mostRounds = 60;

const variants: readonly (Variant & { store: "memory" | "sqlite" })[] = [
  { name: "two workers", workers: 2, seesAll: true, store: "memory" },
  { name: "two workers, each blind for the other", workers: 2, seesAll: false, store: "memory" },
  { name: "one worker after the other", workers: 1, seesAll: false, store: "memory" },
  { name: "two workers on a file", workers: 2, seesAll: true, store: "sqlite" },
];

export const variantCount = variants.length;

/** `seed`: whole; its remainder by the number of variants says which one. Throws when work is left that nobody does. */
export async function runEpisode(seed: number): Promise<Episode> {
  const random = createRandom(seed);
  const variant = variants[seed % variants.length] ?? random.pick(variants);
  const clock = fakeClock();
  const place = openTable(variant.store, clock);
  const blobs = createMemoryBlobs();
  const witness = newWitness();
  let passing: ReturnType<typeof passTime> | undefined;
  try {
    const open = place.open;
    passing = passTime(clock);
    const workers = await createWorkers({ variant, seed, random, clock, blobs, open, witness });
    const people = createPeople(random);
    await talk({ workers, people, random, clock, running: () => witness.running });
    workers.calmDown();
    await settle(workers, clock);
    const store = createStore({ table: place.open(), blobs, clock });
    const findings = await checkSessions(store, people.messages, witness);
    return { seed, variant: variant.name, deaths: workers.deaths(), duplicates: people.duplicates(), ...findings };
  } finally {
    await passing?.stop();
    await place.close();
  }
}

/** Time follows the turns of the event loop, that of the machine's timers too: no episode depends on how fast it runs. */
function passTime(clock: FakeClock): { stop(): Promise<void> } {
  let stopped = false;
  mock.timers.enable({ apis: ["setTimeout"] });
  const passing = (async () => {
    while (!stopped) {
      await clock.advance(tickMs);
      mock.timers.tick(tickMs);
      await setImmediate();
    }
    mock.timers.reset();
  })();
  return {
    stop() {
      stopped = true;
      return passing;
    },
  };
}

type People = ReturnType<typeof createPeople>;

function createPeople(random: Random) {
  const messages: Message[] = Array.from({ length: sessionCount * messagesEach }, (_, i) => ({
    session: i % sessionCount,
    n: Math.floor(i / sessionCount),
    plan: planFor(random),
    // One that steers overtakes those that wait: all of a session's messages do, or none.
    steers: (i % sessionCount) % 10 === 0,
  }));
  /** In order for each session: the next one is sent when the one before it was accepted. */
  const left = Array.from({ length: sessionCount }, (_, session) =>
    messages.filter((message) => message.session === session),
  );
  const busy = new Set<number>();
  let duplicates = 0;

  async function send(message: Message, worker: Worker): Promise<void> {
    const accepted = await acceptMessage(worker.deps, {
      tenant: "acme",
      user: "ann",
      key: `agent:soak:${message.session}`,
      content: [{ type: "text", text: textOf(message) }],
      via: "api",
      idempotencyKey: `message ${message.session}.${message.n}`,
      ...(message.steers ? { busy: "steer" } : {}),
    });
    if (message.accepted && message.accepted.messageId !== accepted.messageId) {
      throw new Error(`message ${message.session}.${message.n} was accepted twice, under two ids`);
    }
    message.accepted ??= accepted;
  }

  return {
    messages,
    duplicates: () => duplicates,
    left: () => left.some((queue) => queue.length > 0),
    /** Sends the next message of some session, perhaps to several workers at once; until it is accepted it stays the next. */
    async sendNext(workers: Workers): Promise<void> {
      const free = left.flatMap((queue, session) => (queue.length > 0 && !busy.has(session) ? [session] : []));
      const alive = workers.alive();
      if (free.length === 0 || alive.length === 0) return;
      const session = random.pick(free);
      const [message] = left[session] ?? [];
      if (!message) return;
      busy.add(session);
      const copies = random.chance(0.15) ? [...alive, ...alive] : [random.pick(alive)];
      duplicates += copies.length - 1;
      const ends = await Promise.allSettled(copies.map((worker) => send(message, worker)));
      refuseWrong(ends);
      if (message.accepted) left[session]?.shift();
      busy.delete(session);
    },
    /** Sends what was accepted long ago once more. */
    async sendAgain(workers: Workers): Promise<void> {
      const [worker] = workers.alive();
      const known = messages.filter(({ accepted }) => accepted);
      if (!worker || known.length === 0) return;
      duplicates++;
      refuseWrong(await Promise.allSettled([send(random.pick(known), worker)]));
    },
  };
}

/** What a death or the store did to a request is fine: it is sent again. */
function refuseWrong(ends: readonly PromiseSettledResult<void>[]): void {
  for (const end of ends) {
    if (end.status === "rejected" && !["Crash", "StoreUnavailable", "StoreThrottled"].includes(nameOf(end.reason))) {
      throw end.reason;
    }
  }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "Error");

type Scene = { workers: Workers; people: People; random: Random; clock: FakeClock; running: () => number };

async function talk({ workers, people, random, clock, running }: Scene): Promise<void> {
  const underWay = new Set<Promise<void>>();
  let broken: unknown;
  const doing = (work: Promise<void>) => {
    const done = work
      .catch((error: unknown) => {
        broken ??= error;
      })
      .finally(() => underWay.delete(done));
    underWay.add(done);
  };
  while (people.left()) {
    if (broken) throw broken;
    const dice = random.int(1000);
    if (dice < 500 && underWay.size < mostUnderWay) doing(people.sendNext(workers));
    else if (dice < 510) doing(people.sendAgain(workers));
    else if (dice < 530) for (const worker of workers.alive()) doing(worker.sweepOnce().catch(() => {}));
    else if (dice < 540) clock.set(clock.now() + random.int(2 * stepMs) - stepMs);
    else if (dice < 545 && running() === 0) clock.set(clock.now() + random.int(2 * jumpMs) - jumpMs);
    else if (dice < 550) workers.alive()[random.int(2)]?.kill();
    else if (dice < 580) await workers.restart();
    await setImmediate();
  }
  await Promise.all(underWay);
  if (broken) throw broken;
}

/** Nothing fails any more: the sweepers must bring everything to its end. */
async function settle(workers: Workers, clock: FakeClock): Promise<void> {
  while (await workers.restart());
  for (let round = 0; round < mostRounds; round++) {
    for (const worker of workers.alive()) await worker.sweepOnce();
    await Promise.all(workers.alive().map((worker) => worker.idle()));
    const [worker] = workers.alive();
    const due = await worker?.deps.store.statuses.due(Number.MAX_SAFE_INTEGER, { limit: 1 });
    if (due?.rows.length === 0) return;
    await clock.advance(5 * 60_000);
  }
}

function openTable(store: "memory" | "sqlite", clock: FakeClock): { open(): Table; close(): Promise<void> } {
  const now = () => clock.now();
  if (store === "memory") {
    const table = createMemoryTable({ now });
    return { open: () => table, close: () => table.close() };
  }
  const folder = mkdtempSync(join(tmpdir(), "baton-soak-"));
  const tables: Table[] = [];
  return {
    open() {
      const table = createSqliteTable({ file: join(folder, "baton.sqlite"), now });
      tables.push(table);
      return table;
    },
    async close() {
      for (const table of tables) await table.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
