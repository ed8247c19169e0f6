// Ask and Act through the real machine: what is asked, mailed, decided and run.
import { type ApprovalRule, defineTool, OutcomeUnknown, type ToolContext } from "baton";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { decideApproval } from "../../lib/sessions/approvals/decide-approval.ts";
import { sessionTree } from "../../lib/sessions/tree.ts";
import { approvalWorld, asked, ended, type Process, tenant, type World } from "../support/approval-world.ts";

const input = z.object({ n: z.int(), to: z.string().optional() });
const ann = "ann@bank.example";
const bob = "bob@bank.example";

function fileTool(ran: { input: unknown; key: string }[], more: Partial<Parameters<typeof defineTool>[0]> = {}) {
  return defineTool({
    name: "file",
    description: "files a report",
    input,
    effect: "once",
    approval: { approvers: [ann], expiresIn: "3d" },
    ...(more as object),
    run: (given: unknown, ctx: ToolContext) => {
      ran.push({ input: given, key: ctx.idempotencyKey });
      return { receipt: "R-1" };
    },
  });
}

const once = [{ calls: [{ name: "file", input: { n: 1 } }] }, { text: "done" }];
const open: Process[] = [];
const started = (world: World, ...args: Parameters<World["start"]>) => {
  const process = world.start(...args);
  open.push(process);
  return process;
};
afterEach(async () => {
  for (const process of open.splice(0)) await process.stop(0);
});

async function decide(
  process: Process,
  id: string,
  decision: "approve" | "reject" | "happened" | "not_happened" | "give_up",
  more: { by?: string; comment?: string; edit?: object } = {},
) {
  const stored = await process.deps.store.approvals.get(tenant, id);
  const shownHash = stored?.approval.edited?.inputHash ?? stored?.approval.inputHash ?? "";
  return decideApproval(process.deps, { tenant, id }, { by: ann, decision, via: "link", shownHash, ...more } as never);
}

async function resultOf(world: World, process: Process, sessionId: string) {
  const finished = (await world.events(process, sessionId)).filter((event) => event.type === "call.finished");
  return finished.map(({ outcome, result }) => ({
    status: outcome.status,
    text: result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n"),
  }));
}

describe("ask", () => {
  it("freezes the call, mails each approver once and shows the session as paused", async () => {
    const ran: { input: unknown; key: string }[] = [];
    const world = approvalWorld({ tools: [fileTool(ran, { approval: { approvers: [ann, bob] } })], script: once });
    const process = started(world);
    const { sessionId } = await process.send();
    const [stored] = await asked(process, sessionId);
    expect(world.mails.map(({ to, subject }) => [to, subject])).toEqual([
      [ann, "Approval needed: file (until 2026-12-03 12:00 UTC)"],
      [bob, "Approval needed: file (until 2026-12-03 12:00 UTC)"],
    ]);
    expect(stored?.approval).toMatchObject({
      id: `${tenant}~${sessionId}~1~1~0~0`,
      kind: "call",
      status: "pending",
      tool: "file",
      input: '{"n":1}',
      requestedBy: "rita",
    });
    const tree = await sessionTree(process.deps, tenant, sessionId);
    expect({ session: tree.session.status, turn: tree.turns[0]?.status, open: tree.approvals.length }).toEqual({
      session: "paused",
      turn: "waiting_for_input",
      open: 1,
    });
    expect(ran).toEqual([]);
  });

  it("keeps neither a link secret nor the task token in the log, and no secret in the record", async () => {
    const world = approvalWorld({ tools: [fileTool([])], script: once });
    const process = started(world);
    const { sessionId } = await process.send();
    const [stored] = await asked(process, sessionId);
    const secret = /\/approve\/[^/\s]+\/(\S+)/.exec(world.mails[0]?.text ?? "")?.[1] ?? "";
    expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const log = JSON.stringify(await process.deps.store.log.events(tenant, sessionId, 0));
    const record = JSON.stringify(stored?.approval);
    expect([log, record].map((text) => text.includes(secret))).toEqual([false, false]);
    expect(log.includes(stored?.taskToken ?? "?")).toBe(false);
  });

  it("runs ungated siblings at once and returns all results in call order", async () => {
    const ran: { input: unknown; key: string }[] = [];
    const seen: number[] = [];
    const look = defineTool({
      name: "look",
      description: "looks",
      input,
      effect: "read",
      run: ({ n }) => {
        seen.push(n);
        return { n };
      },
    });
    const calls = [
      { name: "file", input: { n: 1 } },
      { name: "look", input: { n: 2 } },
      { name: "file", input: { n: 3 } },
    ];
    const world = approvalWorld({ tools: [fileTool(ran), look], script: [{ calls }, { text: "done" }] });
    const process = started(world);
    const { sessionId } = await process.send();
    const both = await asked(process, sessionId, 2);
    expect(seen).toEqual([2]);
    const [first, third] = both.map(({ approval }) => approval.id).sort();
    await decide(process, third ?? "", "approve");
    await decide(process, first ?? "", "reject", { comment: "not this one" });
    expect(await ended(process, sessionId)).toBe("completed");
    expect(ran.map((run) => run.input)).toEqual([{ n: 3 }]);
    expect((await resultOf(world, process, sessionId)).map(({ status }) => status).sort()).toEqual([
      "denied",
      "success",
      "success",
    ]);
  });

  it("tells the model who rejected a call, and why", async () => {
    const world = approvalWorld({ tools: [fileTool([])], script: once });
    const process = started(world);
    const { sessionId } = await process.send();
    const [stored] = await asked(process, sessionId);
    await decide(process, stored?.approval.id ?? "", "reject", { comment: "wrong customer" });
    await ended(process, sessionId);
    expect(await resultOf(world, process, sessionId)).toEqual([
      { status: "denied", text: `file was not run: ${ann} rejected it "wrong customer"` },
    ]);
  });

  it("runs with the arguments as an approver changed them, and tells the model how", async () => {
    const ran: { input: unknown; key: string }[] = [];
    const world = approvalWorld({ tools: [fileTool(ran)], script: once });
    const process = started(world);
    const { sessionId } = await process.send();
    const [stored] = await asked(process, sessionId);
    const response = await process.api.fetch(
      new Request(`http://x/v1/approvals/${stored?.approval.id}/decision`, {
        method: "POST",
        headers: { authorization: `Bearer ${tenant}:u1:${ann}` },
        body: JSON.stringify({ decision: "approve", input: { n: 7, to: "Zoë" } }),
      }),
    );
    expect(response.status).toBe(200);
    await ended(process, sessionId);
    expect(ran.map((run) => run.input)).toEqual([{ n: 7, to: "Zoë" }]);
    const intent = (await world.events(process, sessionId)).find((event) => event.type === "call.started");
    expect(intent).toMatchObject({ input: { n: 7, to: "Zoë" }, approvalId: stored?.approval.id });
    expect((await resultOf(world, process, sessionId))[0]?.text).toBe(
      `Note on the approval. ${ann} changed the arguments before approving; it ran with the changed ones, not with yours:\n- n: "1" -> "7"\n- to: (not set) -> "Zoë"\n{"receipt":"R-1"}`,
    );
  });

  it("waits for a quorum; one rejection ends it", async () => {
    const ran: { input: unknown; key: string }[] = [];
    const approval = { approvers: [ann, bob], quorum: 2 };
    const world = approvalWorld({ tools: [fileTool(ran, { approval })], script: once });
    const process = started(world);
    const { sessionId } = await process.send();
    const [stored] = await asked(process, sessionId);
    const id = stored?.approval.id ?? "";
    expect((await decide(process, id, "approve")).kind).toBe("recorded");
    expect(ran).toEqual([]);
    expect((await decide(process, id, "approve", { by: bob })).kind).toBe("settled");
    await ended(process, sessionId);
    expect(ran.length).toBe(1);
  });

  it("asks nobody when only the requester may approve, and tells the model", async () => {
    const world = approvalWorld({ tools: [fileTool([])], script: once });
    const process = started(world);
    const { sessionId } = await process.send("go", ann);
    await ended(process, sessionId);
    expect(world.mails).toEqual([]);
    expect(await resultOf(world, process, sessionId)).toEqual([
      {
        status: "denied",
        text: "it was not run: it needs approval, and too few people other than its requester may give it",
      },
    ]);
  });

  it("puts an interrupted once call to whose session it is when the tool names nobody", async () => {
    let runs = 0;
    const pay = defineTool({
      name: "file",
      description: "pays",
      input,
      effect: "once",
      run: () => {
        runs++;
        if (runs === 1) throw new OutcomeUnknown("the bank did not answer");
        return "paid";
      },
    });
    const world = approvalWorld({ tools: [pay], script: once });
    const process = started(world);
    const { sessionId } = await process.send();
    const [stored] = await asked(process, sessionId);
    expect(stored?.approval).toMatchObject({ kind: "in_doubt", approvers: [{ email: "rita" }] });
    expect(world.mails).toEqual([]);
    await decide(process, stored?.approval.id ?? "", "not_happened", { by: "rita" });
    await ended(process, sessionId);
    expect(runs).toBe(2);
    const keys = (await world.events(process, sessionId)).flatMap((event) =>
      event.type === "call.started" ? [`${event.attempt} ${event.idempotencyKey}`] : [],
    );
    expect(keys).toEqual([`1 ${tenant}.${sessionId}.1.1.0`, `2 ${tenant}.${sessionId}.1.1.0`]);
  });

  for (const [answer, status, text] of [
    ["happened", "success", /"confirmedBy":"ann@bank.example"/],
    ["give_up", "in_doubt", /Outcome unknown, verify first: .* ann@bank.example could not tell either/],
  ] as const) {
    it(`tells the model the truth about a call in doubt: ${answer}`, async () => {
      let runs = 0;
      const pay = defineTool({
        name: "file",
        description: "pays",
        input,
        effect: "once",
        approval: { approvers: [ann] },
        run: () => {
          runs++;
          throw new OutcomeUnknown("the bank did not answer");
        },
      });
      const world = approvalWorld({ tools: [pay], script: once });
      const process = started(world);
      const { sessionId } = await process.send();
      const [first] = await asked(process, sessionId);
      await decide(process, first?.approval.id ?? "", "approve");
      const [second] = await asked(process, sessionId);
      expect(second?.approval).toMatchObject({ kind: "in_doubt", id: `${tenant}~${sessionId}~1~1~0~1` });
      await decide(process, second?.approval.id ?? "", answer);
      await ended(process, sessionId);
      const [result] = await resultOf(world, process, sessionId);
      expect(result?.status).toBe(status);
      expect(result?.text).toMatch(text);
      expect(runs).toBe(1);
    });
  }

  it("reminds, escalates and at last expires; the model is told", async () => {
    const approval = {
      approvers: [ann],
      expiresIn: "3d",
      remindAfter: "1d",
      escalateTo: [bob],
      escalateAfter: "2d",
    } satisfies ApprovalRule;
    const world = approvalWorld({ tools: [fileTool([], { approval })], script: once });
    const process = started(world);
    const { sessionId } = await process.send();
    await asked(process, sessionId);
    const day = 86_400_000;
    const told: string[][] = [];
    for (let days = 1; days <= 3; days++) {
      await world.clock.advance(day);
      await process.sweep();
      await process.sweep();
      told.push(world.mails.splice(0).map(({ to, subject }) => `${to}: ${subject.split(":")[0]}`));
    }
    expect(told).toEqual([
      [`${ann}: Approval needed`, `${ann}: Reminder`],
      [`${bob}: Escalated to you`],
      [`${ann}: Settled`, `${bob}: Settled`],
    ]);
    expect(await ended(process, sessionId)).toBe("completed");
    expect(await resultOf(world, process, sessionId)).toEqual([
      { status: "denied", text: "file was not run: it was not approved in time" },
    ]);
  });

  it("tells its life in the session's events", async () => {
    const world = approvalWorld({ tools: [fileTool([])], script: once });
    const process = started(world);
    const { sessionId } = await process.send();
    const [stored] = await asked(process, sessionId);
    await decide(process, stored?.approval.id ?? "", "approve", { comment: "fine" });
    await ended(process, sessionId);
    const life = (await world.events(process, sessionId)).filter((event) => "approvalId" in event);
    expect(life.map(({ type }) => type)).toEqual([
      "approval.requested",
      "approval.mailed",
      "approval.decided",
      "call.started",
    ]);
    expect(life[2]).toMatchObject({ status: "approved", decisions: [{ by: ann, via: "link", comment: "fine" }] });
  });
});
