// An answer that is to be delivered is delivered, whenever a process dies (H65, G16): over real HTTP.
import { afterEach, describe, expect, it } from "vitest";
import { createHmacSigner } from "../../lib/adapters/hmac-signer.ts";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { MailUnavailable } from "../../lib/core/errors.ts";
import { retryAfterMs } from "../../lib/delivery/deliver-answer.ts";
import type { Mail } from "../../lib/ports/mailer.ts";
import { type Embedded, type EmbedOptions, embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable, type FaultPlan } from "../../lib/testing/faulty-table.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";
import { type Receiver, startReceiver } from "../delivery/webhook-receiver.ts";
import { newWitness, relayAgent, relayScript } from "../support/relay-agent.ts";

const receivers: Receiver[] = [];
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close();
});

async function world(answer?: Parameters<typeof startReceiver>[0]) {
  const receiver = await startReceiver(answer);
  receivers.push(receiver);
  const clock = fakeClock();
  const base = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  const witness = newWitness();
  const signer = createHmacSigner({ key: Buffer.alloc(32, 7) });
  let processes = 0;
  const start = (plan: FaultPlan = [], more: Partial<EmbedOptions> = {}): Embedded & { writes: number } => {
    const table = createFaultyTable(base, plan);
    const process = embed({
      agents: [relayAgent(witness)],
      model: replayModel(relayScript),
      table,
      blobs,
      clock,
      signer,
      ids: seededIds(`process ${++processes}`),
      ...more,
    });
    return Object.defineProperty(process, "writes", { get: () => table.writes }) as Embedded & { writes: number };
  };
  const send = (process: Embedded) =>
    process.send("go", { deliverTo: { webhook: receiver.url }, idempotencyKey: "m-1" });
  return { receiver, clock, start, send };
}

/** Sweeps minute by minute. */
async function minutes(process: Embedded, clock: ReturnType<typeof fakeClock>, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) {
    await clock.advance(60_000);
    await process.sweep();
    await process.idle();
  }
}

describe("an answer with a webhook", () => {
  it("is written down with its delivery in one checkpoint, and sent at once", async () => {
    const { receiver, start, send } = await world();
    const process = start();
    const { sessionId } = await send(process);
    await process.idle();
    const events = await process.deps.store.log.events("acme", sessionId, 0);
    const ended = events.at(-1);
    expect(ended?.event).toMatchObject({
      type: "turn.finished",
      answer: "Done: R-5.",
      deliver: { webhook: receiver.url },
    });
    expect(receiver.received.map(({ body }) => JSON.parse(body))).toEqual([
      {
        type: "turn.finished",
        timestamp: new Date(ended?.at ?? 0).toISOString(),
        data: {
          sessionId,
          key: "agent:test",
          agent: "relay",
          turn: 1,
          version: ended?.version,
          status: "completed",
          endReason: "completed",
          answer: "Done: R-5.",
        },
      },
    ]);
    expect(receiver.received[0]?.headers["webhook-id"]).toBe(`${sessionId}.1`);
    expect(await process.deps.store.deliveries.get("acme", sessionId, 1)).toMatchObject({
      status: "sent",
      attempts: 1,
    });
    await process.sweep();
    expect(receiver.received).toHaveLength(1);
  });

  it("is delivered after a death at any write, each time with the same id and the same bytes (H65, G16)", async () => {
    const quiet = await world();
    const plain = quiet.start();
    await quiet.send(plain);
    await plain.idle();
    const { writes } = plain;
    expect(writes).toBeGreaterThan(15);
    const repeated: number[] = [];
    for (let n = 1; n <= writes; n++) {
      for (const fault of ["death before", "death after"] as const) {
        const { receiver, clock, start, send } = await world();
        const first = start([{ fault, on: n }]);
        await send(first).catch(() => {});
        await first.idle();
        await first.stop(0).catch(() => {});
        const second = start();
        await second.boot(`boot-${n}`);
        await send(second);
        await second.idle();
        await minutes(second, clock, 8);
        const label = `${fault} write ${n}`;
        const distinct = new Set(receiver.received.map(({ headers, body }) => `${headers["webhook-id"]} ${body}`));
        expect([label, distinct.size]).toEqual([label, 1]);
        repeated.push(receiver.received.length);
      }
    }
    // After sending and before the mark: it came twice, and the receiver can tell.
    expect(Math.max(...repeated)).toBe(2);
    expect(repeated.filter((count) => count === 2)).toHaveLength(1);
  });

  it("is delivered on the same path when the turn fails", async () => {
    const { receiver, start, send } = await world();
    const process = start([], { model: { reply: () => Promise.reject(new Error("boom")) } });
    await send(process);
    await process.idle();
    expect(receiver.received.map(({ body }) => JSON.parse(body).data)).toMatchObject([
      { status: "error", endReason: "error" },
    ]);
  });

  it("is tried again with growing waits until the receiver takes it", async () => {
    const { receiver, clock, start, send } = await world((n) => (n < 4 ? 503 : 200));
    const process = start();
    const { sessionId } = await send(process);
    await process.idle();
    expect(receiver.received).toHaveLength(1);
    await minutes(process, clock, 13);
    expect(receiver.received).toHaveLength(4);
    expect(await process.deps.store.deliveries.get("acme", sessionId, 1)).toMatchObject({
      status: "sent",
      attempts: 4,
    });
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  it("is given up after the last wait, and at once when the receiver says that it is gone", async () => {
    const { receiver, clock, start, send } = await world(() => 500);
    const process = start();
    const { sessionId } = await send(process);
    await process.idle();
    for (const wait of [...retryAfterMs, 86_400_000]) {
      await clock.advance(wait);
      await process.sweep();
    }
    expect(receiver.received).toHaveLength(retryAfterMs.length + 1);
    expect(await process.deps.store.deliveries.get("acme", sessionId, 1)).toMatchObject({
      status: "failed",
      reason: "the receiver answered 500",
    });
    const gone = await world(() => 410);
    const other = gone.start();
    await gone.send(other);
    await other.idle();
    await minutes(other, gone.clock, 5);
    expect(gone.receiver.received).toHaveLength(1);
  });

  it("is sent by one of two sweepers", async () => {
    const { receiver, clock, start, send } = await world((n) => (n === 1 ? 503 : 200));
    const [a, b] = [start(), start()];
    await send(a);
    await a.idle();
    await clock.advance(61_000);
    await Promise.all([a.sweep(), b.sweep()]);
    expect(receiver.received).toHaveLength(2);
  });

  it("says nothing of the URL, the answer or the secret in a log line (G20)", async () => {
    const lines: string[] = [];
    const say = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`);
    const { receiver, start } = await world(() => 500);
    const process = start([], { log: { info: say, warn: say, error: say } });
    await process.send("go", { deliverTo: { webhook: `${receiver.url}?token=hunter2` } });
    await process.idle();
    expect(lines.join("\n")).toContain("the receiver answered 500");
    expect(lines.join("\n")).not.toMatch(/hunter2|Done: R-5|whsec|127\.0\.0\.1/);
  });
});

describe("an answer by mail", () => {
  const sending = (fail: (n: number) => boolean) => {
    const mails: Mail[] = [];
    let n = 0;
    const mailer = {
      destination: "test",
      send: async (mail: Mail) => {
        mails.push(mail);
        if (fail(++n)) throw new MailUnavailable("421 later");
      },
    };
    return { mails, mailer };
  };

  it("is the same mail on every attempt: frozen bytes and Message-ID (H23, G16)", async () => {
    const { clock, start } = await world();
    const { mails, mailer } = sending((n) => n < 3);
    const process = start([], { mailer });
    const { sessionId } = await process.send("go", { deliverTo: { mail: "ann@bank.example" } });
    await process.idle();
    await minutes(process, clock, 5);
    expect(mails).toHaveLength(3);
    expect(new Set(mails.map((mail) => JSON.stringify(mail))).size).toBe(1);
    expect(mails[0]).toMatchObject({
      to: "ann@bank.example",
      subject: "go",
      text: expect.stringContaining("Done: R-5."),
      messageId: `<answer.${sessionId}.1.acme@127.0.0.1>`,
    });
  });
});
