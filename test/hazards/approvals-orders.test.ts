// Whatever the order in which people, scanners, time, crashes and stops come: one decision, one effect, and
// looking never does anything (G8, G10, H68).
import { defineTool } from "baton";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { isDisposition } from "../../lib/core/errors.ts";
import { stopSession } from "../../lib/sessions/control.ts";
import { resetSession } from "../../lib/sessions/reset-session.ts";
import {
  approvalWorld,
  asked,
  linkIn,
  type Process,
  press,
  settle,
  tenant,
  until,
  visit,
} from "../support/approval-world.ts";

const ann = "ann@bank.example";
const bob = "bob@bank.example";
const actions = [
  "GET",
  "HEAD",
  "approve",
  "reject",
  "second",
  "api",
  "time",
  "expiry",
  "sweep",
  "kill",
  "restart",
  "stop",
  "reset",
] as const;
type Action = (typeof actions)[number];

describe("any order", () => {
  it("gives one decision and at most one effect, and a look changes nothing (G8, G10, H68)", async () => {
    const order = fc.array(fc.record({ action: fc.constantFrom(...actions), settled: fc.boolean() }), {
      maxLength: 10,
    });
    await fc.assert(fc.asyncProperty(order, fc.constantFrom(1, 2), play), { numRuns: 120 });
  }, 120_000);
});

async function play(order: { action: Action; settled: boolean }[], quorum: number): Promise<void> {
  const ran: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    description: "pays",
    input: z.object({ n: z.int() }),
    effect: "once",
    approval: { approvers: [ann, bob], quorum, expiresIn: "1d" },
    run: (input) => {
      ran.push(input);
      return "paid";
    },
  });
  const script = [{ calls: [{ name: "pay", input: { n: 1 } }] }, { text: "done" }];
  const world = approvalWorld({ tools: [pay], script });
  let process: Process = world.start();
  const { sessionId } = await process.send();
  const [first] = await asked(process, sessionId);
  const id = first?.approval.id ?? "";
  const linkOf = (to: string) => linkIn(world.mails.find((mail) => mail.to === to));
  const pages = { [ann]: "", [bob]: "" };
  for (const person of [ann, bob]) pages[person as typeof ann] = await (await visit(process, linkOf(person))).text();
  const decidable = async () => {
    const stored = await process.deps.store.approvals.get(tenant, id);
    const { status, decisions, edited } = stored?.approval ?? {};
    return { status, decisions, edited };
  };
  let stopped = false;

  async function next(): Promise<void> {
    process = world.start();
    await process.boot();
  }

  async function act(action: Action): Promise<void> {
    switch (action) {
      case "GET":
      case "HEAD": {
        const before = await decidable();
        const effects = ran.length;
        await visit(process, linkOf(ann), { method: action });
        await visit(process, linkOf(bob), { method: action });
        expect([await decidable(), ran.length]).toEqual([before, effects]);
        return;
      }
      case "approve":
        return void (await press(process, linkOf(ann), "approve"));
      case "reject":
        return void (await press(process, linkOf(bob), "reject"));
      case "second":
        return void (await press(process, linkOf(bob), "approve", pages[bob]));
      case "api": {
        const headers = { authorization: `Bearer ${tenant}:u:${ann}` };
        const init = { method: "POST", headers, body: '{"decision":"approve"}' };
        return void (await process.api.fetch(new Request(`http://x/v1/approvals/${id}/decision`, init)));
      }
      case "time":
        return world.clock.advance(600_000);
      case "expiry":
        await world.clock.advance(86_400_000);
        return void (await process.sweep());
      case "sweep":
        return void (await process.sweep());
      case "kill":
        await process.kill();
        return next();
      case "restart":
        await process.stop(0);
        return next();
      case "stop":
        stopped = true;
        return unlessRefused(stopSession(process.deps, { tenant, sessionId, user: "rita" }));
      case "reset":
        stopped = true;
        return unlessRefused(resetSession(process.deps, { tenant, sessionId, user: "rita" }));
    }
  }

  try {
    for (const { action, settled } of order) {
      const before = await decidable();
      await act(action);
      // Once settled, nothing changes any more.
      if (before.status !== "pending") expect(await decidable()).toEqual(before);
      if (settled) await settle(20);
    }
    await settle();
    // In the end time passes and the sweeper comes by: every turn ends.
    await until(async () => {
      await world.clock.advance(4 * 86_400_000);
      await process.sweep();
      await settle(20);
      return (await process.deps.store.log.head(tenant, sessionId))?.state.turn === null;
    }, "the end of the turn");

    const events = await world.events(process, sessionId);
    const decided = events.filter((event) => event.type === "approval.decided" && event.approvalId === id);
    expect(decided.length).toBe(1);
    expect(ran.length).toBeLessThanOrEqual(1);
    const { status } = await decidable();
    if (status !== "approved") expect(ran).toEqual([]);
    const doubted = events.some((event) => event.type === "approval.requested" && event.kind === "in_doubt");
    const again = events.some((event) => event.type === "approval.requested" && event.reason !== undefined);
    if (status === "approved" && !stopped && !doubted && !again) expect(ran.length).toBe(1);
    const mailed = world.mails.filter(({ subject }) => subject.startsWith("Approval needed"));
    const first = mailed.filter(({ text }) => text.includes(id));
    expect(first.map(({ to }) => to).sort()).toEqual([ann, bob]);
  } finally {
    await process.kill();
  }
}

/** A closed session is not closed or stopped again, and says so. */
async function unlessRefused(done: Promise<unknown>): Promise<void> {
  await done.catch((error: unknown) => {
    if (!isDisposition(error, "Misuse")) throw error;
  });
}
