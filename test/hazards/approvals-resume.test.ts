// Side effects and questions over crashes: H17, H18, H20, H21, H22, H24, H31, H70.
import { defineAgent, defineTool, OutcomeUnknown } from "baton";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import type { Event } from "../../lib/core/event.ts";
import type { ReplyLine } from "../../lib/demo-model/script-line.ts";
import { createSteps } from "../../lib/steps/index.ts";
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
  type World,
} from "../support/approval-world.ts";

const ann = "ann@bank.example";
const input = z.object({ n: z.int(), to: z.string().optional() });
const open: Process[] = [];
afterEach(async () => {
  for (const process of open.splice(0)) await process.kill();
});
const begin = (world: World, ...how: Parameters<World["start"]>): Process => {
  const process = world.start(...how);
  open.push(process);
  return process;
};

function tool(name: string, effect: "read" | "idempotent" | "once", ran: string[], more: object = {}) {
  return defineTool({
    name,
    description: name,
    input,
    effect,
    ...more,
    run: ({ n, to }) => {
      ran.push(`${name} ${n}${to ? ` ${to}` : ""}`);
      return { [name]: n };
    },
  });
}

const gate = { approval: { approvers: [ann] } };
const call = (name: string, n: number, to?: string) => ({ name, input: { n, ...(to ? { to } : {}) } });
const linkOf = (world: World, nth = -1) => linkIn(world.mails.filter(({ text }) => text.includes("/approve/")).at(nth));

async function texts(world: World, process: Process, sessionId: string): Promise<string[]> {
  const events = await world.events(process, sessionId);
  return events.flatMap((event) =>
    event.type === "call.finished"
      ? [event.result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n")]
      : [],
  );
}

describe("calls that people decide on", () => {
  it("happen once each around the question, over a restart while waiting (H17)", async () => {
    const ran: string[] = [];
    const tools = [tool("audit", "once", ran), tool("create", "idempotent", ran), tool("mail", "once", ran, gate)];
    const script: ReplyLine[] = [
      { calls: [call("audit", 1)] },
      { calls: [call("create", 2)] },
      { calls: [call("mail", 3)] },
      { calls: [call("mail", 4)] },
      { text: "done" },
    ];
    const world = approvalWorld({ tools, script });
    let process = begin(world);
    const { sessionId } = await process.send();
    for (const nth of [1, 2]) {
      await asked(process, sessionId);
      await process.kill();
      process = begin(world);
      await process.boot();
      await settle();
      expect(world.mails.filter(({ subject }) => subject.startsWith("Approval needed")).length).toBe(nth);
      await press(process, linkOf(world), "approve");
    }
    await ended(process, sessionId);
    expect(ran).toEqual(["audit 1", "create 2", "mail 3", "mail 4"]);
  });

  it("keep a mail sent, a question open and a search done apart, two hours and a worker later (H18)", async () => {
    const ran: string[] = [];
    const tools = [tool("mail", "once", ran), tool("question", "once", ran, gate), tool("search", "read", ran)];
    const calls = [call("mail", 1), call("question", 2), call("search", 3)];
    const world = approvalWorld({ tools, script: [{ calls }, { text: "done" }] });
    const first = begin(world);
    const { sessionId } = await first.send();
    await asked(first, sessionId);
    await until(async () => ran.length === 2);
    await settle();
    await first.kill();
    await world.clock.advance(7_200_000);
    const second = begin(world);
    await second.boot();
    await press(second, linkOf(world), "approve");
    await ended(second, sessionId);
    expect([...ran].sort()).toEqual(["mail 1", "question 2", "search 3"]);
    const request = await lastResults(world, second, sessionId);
    expect(request).toEqual(["0", "1", "2"]);
  });

  it("do not run a second time when the step is delivered again meanwhile (H20)", async () => {
    let runs = 0;
    let finish = () => {};
    const slow = defineTool({
      name: "slow",
      description: "slow",
      input,
      effect: "once",
      ...gate,
      run: () => {
        runs++;
        return new Promise<string>((resolve) => {
          finish = () => resolve("slow done");
        });
      },
    });
    const world = approvalWorld({ tools: [slow], script: [{ calls: [call("slow", 1)] }, { text: "done" }] });
    const process = begin(world);
    const { sessionId } = await process.send();
    await asked(process, sessionId);
    await press(process, linkOf(world), "approve");
    await until(async () => runs === 1);
    const head = await process.deps.store.log.head(tenant, sessionId);
    const execution = head?.state.turn?.owner ?? "";
    const again = createSteps(process.deps).act({ tenant, sessionId, turn: 1, segment: 0, execution, index: 0 });
    await expect(again).rejects.toMatchObject({ name: "CallInProgress" });
    // The question, delivered again: nobody is asked anew about a call that runs.
    await createSteps(process.deps).ask({
      tenant,
      sessionId,
      turn: 1,
      segment: 0,
      execution,
      index: 0,
      taskToken: "t",
    });
    finish();
    expect([await ended(process, sessionId), runs, world.mails.length]).toEqual(["completed", 1, 1]);
  });

  it("go on from the last step with one mail, when the worker dies in the turn (H22)", async () => {
    const ran: string[] = [];
    const world = approvalWorld({
      tools: [tool("mail", "once", ran), tool("next", "once", ran, gate)],
      script: [{ calls: [call("mail", 1)] }, { calls: [call("next", 2)] }, { text: "done" }],
    });
    let process = begin(world);
    const { sessionId } = await process.send();
    await asked(process, sessionId);
    for (let deaths = 0; deaths < 3; deaths++) {
      await process.kill();
      process = begin(world);
      await process.boot();
      await settle();
    }
    await press(process, linkOf(world), "approve");
    expect([await ended(process, sessionId), ran]).toEqual(["completed", ["mail 1", "next 2"]]);
  });

  it("in doubt after a crash are put to people, and shown to the model as unknown, never as missing (H21, H24)", async () => {
    const ran: string[] = [];
    const world = approvalWorld({
      tools: [tool("pay", "once", ran, gate)],
      script: [{ calls: [call("pay", 1)] }, { text: "done" }],
    });
    const first = begin(world, [
      { fault: "death before", on: (at) => (at.item as { type?: string } | undefined)?.type === "call.finished" },
    ]);
    const { sessionId } = await first.send();
    await asked(first, sessionId);
    await press(first, linkOf(world), "approve").catch(() => {});
    await until(async () => first.dead());
    await first.kill();
    const second = begin(world);
    await second.boot();
    const [doubt] = await asked(second, sessionId);
    expect(doubt?.approval).toMatchObject({ kind: "in_doubt", status: "pending", input: '{"n":1}' });
    expect(world.mails.at(-1)?.subject).toMatch(/^Did pay happen\?/);
    await press(second, linkOf(world), "give_up");
    await ended(second, sessionId);
    expect(ran).toEqual(["pay 1"]);
    expect((await texts(world, second, sessionId))[0]).toMatch(/^Outcome unknown, verify first: /);
  });

  it("say that nobody answered when the question about a call in doubt expires (G10)", async () => {
    let runs = 0;
    const pay = defineTool({
      name: "pay",
      description: "pays",
      input,
      effect: "once",
      run: () => {
        runs++;
        throw new OutcomeUnknown("no answer");
      },
    });
    const world = approvalWorld({ tools: [pay], script: [{ calls: [call("pay", 1)] }, { text: "done" }] });
    const process = begin(world);
    const { sessionId } = await process.send();
    await asked(process, sessionId);
    await world.clock.advance(4 * 86_400_000);
    await process.sweep();
    expect([await ended(process, sessionId), runs]).toEqual(["completed", 1]);
    expect((await texts(world, process, sessionId))[0]).toMatch(/nobody who was asked answered in time/);
  });

  it("that are denied are stored, alone or one of three, and the denial is their result (H31)", async () => {
    for (const count of [1, 3]) {
      const ran: string[] = [];
      const calls = [call("pay", 1), call("look", 2), call("look", 3)].slice(0, count);
      const world = approvalWorld({
        tools: [tool("pay", "once", ran, gate), tool("look", "read", ran)],
        script: [{ calls }, { text: "done" }],
      });
      const process = begin(world);
      const { sessionId } = await process.send();
      await asked(process, sessionId);
      const types = (await world.events(process, sessionId)).map(({ type }) => type);
      expect(types.indexOf("model.replied")).toBeLessThan(types.indexOf("approval.requested"));
      await press(process, linkOf(world), "reject");
      await ended(process, sessionId);
      expect(await lastResults(world, process, sessionId)).toEqual(["0", "1", "2"].slice(0, count));
      expect(ran.includes("pay 1")).toBe(false);
    }
  });
});

describe("what runs after an approval", () => {
  const agentWith = (ran: string[], more: object) =>
    defineAgent({
      name: "clerk",
      instructions: "Do it.",
      model: { id: "scripted" },
      tools: [tool("pay", "once", ran, { ...gate, ...more })],
    });
  const script: ReplyLine[] = [{ calls: [call("pay", 1, "Zoë")] }, { text: "done" }];

  for (const [what, changed] of [
    ["the tool's version", { version: "2" }],
    ["a tighter quorum", { approval: { approvers: [ann, "bob@bank.example"], quorum: 2 } }],
    ["another approver", { approval: { approvers: ["bob@bank.example"] } }],
    ["a shorter expiry that has passed", { approval: { approvers: [ann], expiresIn: "1h" } }],
  ] as const) {
    it(`is asked about again when it differs: ${what} (H70, G9)`, async () => {
      const ran: string[] = [];
      const world = approvalWorld({ tools: [], agent: agentWith(ran, {}), script });
      const first = begin(world);
      const { sessionId } = await first.send();
      await asked(first, sessionId);
      await first.kill();
      await world.clock.advance(7_200_000);
      // Decided by the old release, dispatched by the new one.
      const second = begin(world, [], { agent: agentWith(ran, changed) });
      await press(second, linkOf(world, 0), "approve");
      const again = await until(async () => {
        const all = await second.deps.store.approvals.ofSession(tenant, sessionId);
        return all.find(({ approval }) => approval.id.endsWith("~1"))?.approval;
      }, "a second asking");
      expect([again.kind, again.status, ran]).toEqual(["call", "pending", []]);
      const requested = (await world.events(second, sessionId)).filter(
        (event): event is Event & { type: "approval.requested" } => event.type === "approval.requested",
      );
      expect(requested.map(({ reason }) => reason !== undefined)).toEqual([false, true]);
    });
  }

  it("is nothing when the tool is gone (H70)", async () => {
    const ran: string[] = [];
    const world = approvalWorld({ tools: [], agent: agentWith(ran, {}), script });
    const first = begin(world);
    const { sessionId } = await first.send();
    await asked(first, sessionId);
    await first.kill();
    const bare = defineAgent({ name: "clerk", instructions: "x", model: { id: "scripted" }, tools: [] });
    const second = begin(world, [], { agent: bare });
    await press(second, linkOf(world), "approve");
    await ended(second, sessionId);
    expect([ran, await texts(world, second, sessionId)]).toEqual([[], ['tool "pay" is not there any more']]);
  });

  it("is the frozen call: a repeated call id with other arguments is another approval (H70)", async () => {
    const ran: string[] = [];
    const world = approvalWorld({
      tools: [tool("pay", "once", ran, gate)],
      script: [
        { calls: [{ ...call("pay", 1), id: "same" }] },
        { calls: [{ ...call("pay", 999), id: "same" }] },
        { text: "done" },
      ],
    });
    const process = begin(world);
    const { sessionId } = await process.send();
    await asked(process, sessionId);
    const first = linkOf(world, 0);
    await press(process, first, "approve");
    await until(async () => ran.length === 1);
    const [second] = await asked(process, sessionId);
    expect(second?.approval.input).toBe('{"n":999}');
    await press(process, first, "approve");
    expect(ran).toEqual(["pay 1"]);
    await press(process, linkOf(world), "reject");
    await ended(process, sessionId);
    expect(ran).toEqual(["pay 1"]);
  });

  it("is the same call whatever the order of its keys (H70)", async () => {
    const ran: string[] = [];
    const world = approvalWorld({
      tools: [tool("pay", "once", ran, gate)],
      script: [{ calls: [{ name: "pay", input: { to: "Zoë", n: 1 } }] }, { text: "done" }],
    });
    const process = begin(world);
    const { sessionId } = await process.send();
    const [stored] = await asked(process, sessionId);
    expect(stored?.approval.input).toBe('{"n":1,"to":"Zoë"}');
    await press(process, linkOf(world), "approve");
    await ended(process, sessionId);
    expect(ran).toEqual(["pay 1 Zoë"]);
  });
});

/** Order of the calls whose results the model saw last: by the number at the end of the provider's call id. */
async function lastResults(world: World, process: Process, sessionId: string): Promise<string[]> {
  const { readContext } = await import("../../lib/steps/think/read-context.ts");
  const head = await process.deps.store.log.head(tenant, sessionId);
  if (!head || world.agent.kind !== "agent") return [];
  const { messages } = await readContext(process.deps, head, world.agent, world.agent.tools);
  const withResults = messages.filter(({ content }) => content.some(({ type }) => type === "result"));
  return (withResults.at(-1)?.content ?? []).flatMap((block) =>
    block.type === "result" ? [block.callId.split("_").at(-1) ?? ""] : [],
  );
}
