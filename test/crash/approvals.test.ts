// Every instant at which the process can die in a session with a question to people: before and after each write
// of the store, and around the effect, for each kind of effect (G1–G3, G9, G10, H21, H24). People answer truthfully.
import { defineTool, type Verdict } from "baton";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { Effect } from "../../lib/core/event.ts";
import { Crash, type FaultPlan } from "../../lib/testing/faulty-table.ts";
import { approvalWorld, linkIn, type Process, press, tenant } from "../support/approval-world.ts";

type Kind = { name: string; effect: Effect; verify: boolean };
const kinds: Kind[] = [
  { name: "read", effect: "read", verify: false },
  { name: "idempotent", effect: "idempotent", verify: false },
  { name: "once with verify", effect: "once", verify: true },
  { name: "once without verify", effect: "once", verify: false },
];

type Point =
  | { at: "write"; n: number; fault: "death before" | "death after" | "lost answer" }
  | { at: "effect"; fault: "death before" | "death after" };

type Played = {
  /** Runs of the tool's effect, by key. */
  effects: number[];
  outcomes: string[];
  decided: number;
  requests: { to: string; messageId: string; text: string }[];
  asked: string[];
  writes: number;
  processes: number;
};

async function play(kind: Kind, point: Point | null): Promise<Played> {
  const witness = new Map<string, number>();
  let die: Process | null = null;
  const act = defineTool({
    name: "act",
    description: "acts",
    input: z.object({ n: z.int() }),
    effect: kind.effect,
    approval: { approvers: ["ann@bank.example"] },
    ...(kind.verify ? { verify: (key: string): Verdict => (witness.has(key) ? "done" : "not_done") } : {}),
    run: async (_input, ctx) => {
      const dying = point?.at === "effect" ? die : null;
      die = null;
      if (dying && point?.fault === "death before") await crash(dying);
      witness.set(ctx.idempotencyKey, (witness.get(ctx.idempotencyKey) ?? 0) + 1);
      if (dying) await crash(dying);
      return "acted";
    },
  });
  const world = approvalWorld({
    tools: [act],
    script: [{ calls: [{ name: "act", input: { n: 1 } }] }, { text: "done" }],
  });
  const faults: FaultPlan = point?.at === "write" ? [{ fault: point.fault, on: point.n }] : [];
  let process = world.start(faults);
  die = process;
  let processes = 1;
  let sessionId = "";
  let writes = 0;
  for (let visits = 0; visits < 400; visits++) {
    try {
      if (!sessionId) sessionId = (await process.send()).sessionId;
      if (await goOn(process, sessionId)) break;
    } catch (error) {
      if (!process.dead() && !isTransient(error)) throw error;
    }
    if (processes === 1) writes = process.writes();
    if (process.dead()) {
      await process.kill();
      process = world.start();
      processes++;
      await process.boot();
    } else {
      await new Promise((resolve) => setImmediate(resolve));
      if (visits % 20 === 19) await process.sweep().catch(() => {});
    }
  }
  if (processes === 1) writes = process.writes();
  const reader = world.start();
  const events = await world.events(reader, sessionId);
  await process.kill();
  await reader.kill();
  return {
    effects: [...witness.values()],
    outcomes: events.flatMap((event) => (event.type === "call.finished" ? [event.outcome.status] : [])),
    decided: events.filter((event) => event.type === "approval.decided").length,
    asked: events.flatMap((event) => (event.type === "approval.requested" ? [event.kind] : [])),
    requests: world.mails
      .filter(({ subject }) => /^(Approval needed|Did act)/.test(subject))
      .map(({ to, messageId, text }) => ({ to, messageId, text })),
    writes,
    processes,
  };

  /** One look: people press what they can. True once the turn has ended. */
  async function goOn(current: Process, session: string): Promise<boolean> {
    const head = await current.deps.store.log.head(tenant, session);
    if (head?.state.lastTurn) return true;
    for (const { approval, released } of await current.deps.store.approvals.ofSession(tenant, session)) {
      const mail = world.mails.findLast(({ text }) => text.includes(`/approve/${approval.id}/`));
      if (!mail || released || approval.status !== "pending") continue;
      const happened = witness.size > 0;
      const button = approval.kind === "call" ? "approve" : happened ? "happened" : "not_happened";
      await press(current, linkIn(mail), button);
    }
    return false;
  }
}

/** The process dies in the middle of the tool; what it would do next never comes. */
async function crash(process: Process): Promise<never> {
  process.die();
  throw new Crash("the process died around the effect");
}

function isTransient(error: unknown): boolean {
  return error instanceof Error && (error.name === "StoreUnavailable" || error.name === "OrchestratorUnavailable");
}

describe.each(kinds)("a call that is asked about, effect $name", (kind) => {
  it("happens exactly once, is decided once, and mails no second text, wherever the process dies", async () => {
    const undisturbed = await play(kind, null);
    expect(undisturbed).toMatchObject({
      effects: [1],
      outcomes: ["success"],
      decided: 1,
      asked: ["call"],
      processes: 1,
    });
    const points: Point[] = [
      ...Array.from({ length: undisturbed.writes }, (_, i) =>
        (["death before", "death after", "lost answer"] as const).map((fault) => ({
          at: "write" as const,
          n: i + 1,
          fault,
        })),
      ).flat(),
      { at: "effect", fault: "death before" },
      { at: "effect", fault: "death after" },
    ];
    expect(points.length).toBeGreaterThan(60);
    let doubts = 0;
    for (const point of points) {
      const played = await play(kind, point);
      const where = JSON.stringify(point);
      expect(played.processes, where).toBe(point.fault === "lost answer" ? 1 : 2);
      expect(played.outcomes, where).toEqual(["success"]);
      expect(played.effects.length, where).toBe(1);
      if (kind.effect === "once") expect(played.effects, where).toEqual([1]);
      expect(played.decided, where).toBe(played.asked.length);
      expect(new Set(played.asked).size, where).toBe(played.asked.length);
      doubts += played.asked.includes("in_doubt") ? 1 : 0;
      // The same mail may come twice when the process died between the server's yes and the journal; never another.
      const texts = new Map(played.requests.map(({ messageId, text }) => [messageId, text]));
      for (const { messageId, text } of played.requests) expect(texts.get(messageId), where).toBe(text);
      expect(texts.size, where).toBe(played.asked.length);
      expect(played.requests.length, where).toBeLessThanOrEqual(played.asked.length + 1);
    }
    expect(doubts > 0).toBe(kind.effect === "once" && !kind.verify);
  }, 120_000);
});
