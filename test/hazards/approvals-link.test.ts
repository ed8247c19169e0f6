// Links and decisions under hazard: H67, H68, H72.
import { defineTool } from "baton";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  approvalWorld,
  asked,
  ended,
  linkIn,
  type Process,
  press,
  settle,
  tenant,
  until,
  visit,
  type World,
} from "../support/approval-world.ts";

const ann = "ann@bank.example";
const bob = "bob@bank.example";
const day = 86_400_000;
const open: Process[] = [];
afterEach(async () => {
  for (const process of open.splice(0)) await process.kill();
});

function pay(ran: unknown[], approval: object) {
  return defineTool({
    name: "pay",
    description: "pays",
    input: z.object({ n: z.int() }),
    effect: "once",
    approval: { approvers: [ann, bob], ...approval },
    run: (input) => {
      ran.push(input);
      return "paid";
    },
  });
}

async function waiting(approval: object = {}, ...how: Parameters<World["start"]>) {
  const ran: unknown[] = [];
  const world = approvalWorld({
    tools: [pay(ran, approval)],
    script: [{ calls: [{ name: "pay", input: { n: 1 } }] }, { text: "done" }],
  });
  const process = world.start(...how);
  open.push(process);
  const { sessionId } = await process.send();
  const [stored] = await asked(process, sessionId);
  const id = stored?.approval.id ?? "";
  const link = (to: string) => linkIn(world.mails.find((mail) => mail.to === to));
  const record = async () => (await process.deps.store.approvals.get(tenant, id))?.approval;
  return { world, process, sessionId, id, ran, link, record };
}

describe("approval links", () => {
  it("decide nothing when scanners open every link of every mail from three addresses (H67, G8)", async () => {
    const at = await waiting({
      expiresIn: "3d",
      remindAfter: "1d",
      escalateTo: ["eve@bank.example"],
      escalateAfter: "2d",
    });
    await at.world.clock.advance(day);
    await at.process.sweep();
    await at.world.clock.advance(day);
    await at.process.sweep();
    const links = at.world.mails.map(linkIn);
    expect(at.world.mails.map(({ subject }) => subject.split(":")[0]).sort()).toEqual([
      "Approval needed",
      "Approval needed",
      "Escalated to you",
      "Reminder",
      "Reminder",
    ]);
    const decidable = async () => {
      const record = await at.record();
      return [record?.status, record?.decisions, record?.edited, record?.remindedAt, record?.escalatedAt];
    };
    const before = await decidable();
    for (const address of ["203.0.113.1", "203.0.113.2", "2001:db8::3"]) {
      for (const link of links) {
        for (const method of ["HEAD", "GET", "GET"]) {
          const response = await visit(at.process, link, { method }, address);
          expect(response.status).toBe(200);
          expect(await response.text()).not.toContain("<script");
        }
      }
    }
    expect(await decidable()).toEqual(before);
    await at.world.clock.advance(600_000);
    expect((await press(at.process, at.link(ann), "approve")).status).toBe(200);
    expect([await ended(at.process, at.sessionId), at.ran.length]).toEqual(["completed", 1]);
  });

  it("have one winner of twenty parallel posts, and run the tool once (H68, G10)", async () => {
    const at = await waiting();
    const page = await (await visit(at.process, at.link(ann))).text();
    const pageOfBob = await (await visit(at.process, at.link(bob))).text();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0
          ? press(at.process, at.link(ann), "approve", page)
          : press(at.process, at.link(bob), "reject", pageOfBob),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await ended(at.process, at.sessionId);
    const record = await at.record();
    expect(record?.decisions.length).toBe(1);
    expect(at.ran.length).toBe(record?.status === "approved" ? 1 : 0);
    const decided = (await at.world.events(at.process, at.sessionId)).filter(({ type }) => type === "approval.decided");
    expect(decided.length).toBe(1);
  });

  it("have one winner when one decides by mail and one signed in; the loser sees the outcome (H68)", async () => {
    const at = await waiting();
    const page = await (await visit(at.process, at.link(ann))).text();
    const signedIn = at.process.api.fetch(
      new Request(`http://x/v1/approvals/${at.id}/decision`, {
        method: "POST",
        headers: { authorization: `Bearer ${tenant}:u:${bob}` },
        body: '{"decision":"reject"}',
      }),
    );
    const [byMail, byApi] = await Promise.all([press(at.process, at.link(ann), "approve", page), signedIn]);
    await ended(at.process, at.sessionId);
    const record = await at.record();
    expect(record?.decisions.length).toBe(1);
    const approved = record?.status === "approved";
    expect([byMail.status, byApi.status]).toEqual([200, approved ? 409 : 200]);
    expect(await byMail.text()).toContain(approved ? "was approved" : "was rejected");
    expect(at.ran.length).toBe(approved ? 1 : 0);
  });

  it("carry a decision out that a crash has cut off after its write (H68)", async () => {
    const at = await waiting();
    await at.process.kill();
    const isDecision = (call: { op: string; sk?: string }) => call.op === "update" && call.sk === `A#${at.id}`;
    let updates = 0;
    const second = at.world.start([{ fault: "death after", on: (call) => isDecision(call) && ++updates === 2 }]);
    await visit(second, at.link(ann));
    await press(second, at.link(ann), "approve").catch(() => {});
    expect([
      second.dead(),
      (await at.world.table.get({ pk: `${tenant}#${at.sessionId}`, sk: `A#${at.id}` })) !== null,
    ]).toEqual([true, true]);
    await second.kill();
    const third = at.world.start();
    open.push(third);
    await third.boot();
    await third.sweep();
    expect([await ended(third, at.sessionId), at.ran.length]).toEqual(["completed", 1]);
    const decided = (await at.world.events(third, at.sessionId)).filter(({ type }) => type === "approval.decided");
    expect(decided.length).toBe(1);
  });

  it("outlive every callback that ran out of time, without a second mail (H72)", async () => {
    const at = await waiting({}, [], { interpreter: { callbackTimeoutMs: 1 } });
    const token = async () => (await at.process.deps.store.approvals.get(tenant, at.id))?.taskToken;
    const first = await token();
    const later = await until(async () => ((await token()) !== first ? token() : null), "a new token");
    await until(async () => ((await token()) !== later ? token() : null), "a third token");
    expect(at.world.mails.length).toBe(2);
    await press(at.process, at.link(ann), "approve");
    expect([await ended(at.process, at.sessionId), at.ran.length]).toEqual(["completed", 1]);
    expect(await at.process.deps.orchestrator.release(first ?? "", {})).toBe("gone");
  });

  it("are dead one second after the expiry, and the late decision is harmless (H72, G10)", async () => {
    const at = await waiting({ expiresIn: "1h" });
    const page = await (await visit(at.process, at.link(ann))).text();
    await at.world.clock.advance(3_601_000);
    const late = await press(at.process, at.link(ann), "approve", page);
    const twice = await press(at.process, at.link(ann), "approve", page);
    expect([late.status, twice.status]).toEqual([410, 410]);
    await at.process.sweep();
    await at.process.sweep();
    expect([await ended(at.process, at.sessionId), at.ran, (await at.record())?.status]).toEqual([
      "completed",
      [],
      "expired",
    ]);
  });

  it("cost the same number of writes for an hour and for seven days of waiting (H74)", async () => {
    for (const waited of [3_600_000, 7 * day]) {
      const at = await waiting({ expiresIn: "30d" });
      const before = at.world.mails.length;
      let writes = 0;
      for (const op of ["put", "update", "remove"] as const) {
        const real = at.world.table[op] as (...args: unknown[]) => unknown;
        (at.world.table as unknown as Record<string, unknown>)[op] = (...args: unknown[]) => {
          writes++;
          return real(...args);
        };
      }
      for (let passed = 0; passed < waited; passed += 600_000) {
        at.world.clock.set(at.world.clock.now() + 600_000);
        await at.process.sweep();
      }
      expect([writes, at.world.mails.length]).toEqual([0, before]);
      // The counter counts: deciding writes.
      await press(at.process, at.link(ann), "approve");
      await ended(at.process, at.sessionId);
      expect(writes).toBeGreaterThan(0);
    }
  });

  it("of a session that was stopped while the process was dead are cancelled by the next one", async () => {
    const at = await waiting();
    await at.process.kill();
    const second = at.world.start([{ fault: "death after", on: (call) => call.item?.type === "stop.requested" }]);
    const { stopSession } = await import("../../lib/sessions/control.ts");
    await stopSession(second.deps, { tenant, sessionId: at.sessionId, user: "rita" }).catch(() => {});
    expect(second.dead()).toBe(true);
    const third = at.world.start();
    open.push(third);
    const page = await (await visit(third, at.link(ann))).text();
    const answer = await press(third, at.link(ann), "approve", page);
    expect(await answer.text()).toContain("was cancelled");
    await settle();
    await third.boot();
    expect([await ended(third, at.sessionId), at.ran]).toEqual(["stopped", []]);
  });
});
