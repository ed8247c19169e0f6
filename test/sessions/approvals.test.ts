// Approvals in the store and their use cases: conditional saves, tokens, mails that are claimed, listing.
import { defineTool, type Verdict } from "baton";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { decide } from "../../lib/core/approval/decide.ts";
import { approvalTerms } from "../../lib/core/approval/terms.ts";
import { type Approval, freezeApproval } from "../../lib/core/approval.ts";
import type { Duration } from "../../lib/core/duration.ts";
import type { Mailer } from "../../lib/ports/mailer.ts";
import { decideApproval } from "../../lib/sessions/approvals/decide-approval.ts";
import { listApprovals } from "../../lib/sessions/approvals/list-approvals.ts";
import { sweepSession } from "../../lib/sessions/sweep.ts";
import { createSteps } from "../../lib/steps/index.ts";
import { createApprovals } from "../../lib/store/approvals.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable, type FaultPlan } from "../../lib/testing/faulty-table.ts";
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
} from "../support/approval-world.ts";
import { sha256 } from "../support/approvals.ts";

const ann = "ann@bank.example";
const sessionId = "20261130_120000_0000abcd";
const open: Process[] = [];
afterEach(async () => {
  for (const process of open.splice(0)) await process.kill();
});

function frozen(input: object = { n: 1 }): Approval {
  const call = {
    tenant,
    sessionId,
    turn: 1,
    round: 1,
    index: 0,
    tool: "pay",
    toolVersion: "1",
    input: JSON.stringify(input),
  };
  return freezeApproval({
    id: `${tenant}~${sessionId}~1~1~0~0`,
    kind: "call",
    call,
    requestedBy: "rita",
    terms: approvalTerms({ approvers: [ann, "bob@bank.example"] }),
    secretHash: (email) => sha256(email),
    hash: sha256,
    now: 1_796_040_000_000,
  });
}

function shelf(faults: FaultPlan = []) {
  const clock = fakeClock();
  const table = createFaultyTable(createMemoryTable({ now: () => clock.now() }), faults);
  return { clock, table, approvals: createApprovals({ table, blobs: createMemoryBlobs(), clock }) };
}

const approve = (approval: Approval, by: string): Approval =>
  decide(approval, { by, decision: "approve", via: "link", shownHash: approval.inputHash }, approval.createdAt + 1)
    .approval;

describe("the approval store", () => {
  it("lets one of two savers of the same record win (H68)", async () => {
    const { approvals } = shelf();
    const stored = await approvals.create(frozen());
    const won = await approvals.save(stored, { approval: approve(stored.approval, ann) });
    const lost = await approvals.save(stored, { approval: approve(stored.approval, "bob@bank.example") });
    expect([won === "refused", lost]).toEqual([false, "refused"]);
    expect((await approvals.get(tenant, stored.approval.id))?.approval.decisions.map(({ by }) => by)).toEqual([ann]);
  });

  it("recognises its own save when the answer is lost (G5, H10)", async () => {
    const { approvals } = shelf([{ fault: "lost answer", on: ({ op }) => op === "update" }]);
    const stored = await approvals.create(frozen());
    const saved = await approvals.save(stored, { approval: approve(stored.approval, ann) });
    expect(saved).toMatchObject({ rev: 2, approval: { status: "approved" } });
  });

  it("answers the record that is there when it is created again", async () => {
    const { approvals } = shelf([{ fault: "lost answer", on: ({ op }) => op === "put" }]);
    const first = await approvals.create(frozen());
    await approvals.save(first, { approval: approve(first.approval, ann) });
    expect(await approvals.create(frozen())).toMatchObject({ rev: 2, approval: { status: "approved" } });
  });

  it("keeps the token of the execution that owned the turn last", async () => {
    const { approvals } = shelf();
    const { approval } = await approvals.create(frozen());
    await approvals.attach(tenant, approval.id, { taskToken: "new", version: 9 });
    expect(await approvals.attach(tenant, approval.id, { taskToken: "zombie", version: 5 })).toBe("stale");
    expect((await approvals.get(tenant, approval.id))?.taskToken).toBe("new");
  });

  it("gives back 60 KB of arguments in every script, and an edit of them, as they were", async () => {
    const { approvals } = shelf();
    const input = { text: "Zoë 汉字 \u05d0 ".repeat(5000), n: 1 };
    const stored = await approvals.create(frozen(input));
    const edited = { input: JSON.stringify({ ...input, n: 2 }), inputHash: "h", by: ann, at: 5 };
    await approvals.save(stored, { approval: { ...stored.approval, edited } });
    const { approval } = (await approvals.get(tenant, stored.approval.id)) ?? stored;
    expect(approval).toEqual({ ...frozen(input), edited });
  });

  it("is due when a rule says so, at once when settled and not carried out, and then no more", async () => {
    const { approvals, table } = shelf();
    const due = async () => (await table.due({ before: Number.MAX_SAFE_INTEGER })).items.map((item) => item.due);
    const stored = await approvals.create(frozen());
    expect(await due()).toEqual([stored.approval.expiresAt]);
    const settled = await approvals.save(stored, { approval: approve(stored.approval, ann) });
    expect(await due()).toEqual([stored.approval.createdAt + 1]);
    if (settled !== "refused") await approvals.save(settled, { approval: settled.approval, released: true });
    expect(await due()).toEqual([]);
  });

  it("finds nothing for another tenant or an id that is none (G6)", async () => {
    const { approvals } = shelf();
    const { approval } = await approvals.create(frozen());
    expect([
      await approvals.get("shop", approval.id),
      await approvals.get(tenant, "x"),
      await approvals.get(tenant, ""),
    ]).toEqual([null, null, null]);
  });
});

function paying(more: { mailer?: Mailer; verify?: () => Verdict; run?: () => unknown; expiresIn?: Duration } = {}) {
  const ran: number[] = [];
  const pay = defineTool({
    name: "pay",
    description: "pays",
    input: z.object({ n: z.int() }),
    effect: "once",
    approval: { approvers: [ann], expiresIn: more.expiresIn ?? "3d" },
    ...(more.verify ? { verify: more.verify } : {}),
    run: ({ n }) => {
      ran.push(n);
      return more.run ? more.run() : "paid";
    },
  });
  const world = approvalWorld({
    tools: [pay],
    script: [{ calls: [{ name: "pay", input: { n: 1 } }] }, { text: "done" }],
    ...(more.mailer ? { mailer: more.mailer } : {}),
  });
  const start = (...how: Parameters<typeof world.start>) => {
    const process = world.start(...how);
    open.push(process);
    return process;
  };
  return { world, ran, start };
}

describe("approvals over processes", () => {
  it("find a decision that was written while nobody waited, by the resumed execution alone", async () => {
    const { ran, start } = paying();
    const first = start();
    const { sessionId: id } = await first.send();
    const [stored] = await asked(first, id);
    await first.kill();
    const second = start();
    // Written and nothing more: the process that wrote it died.
    if (stored) await second.deps.store.approvals.save(stored, { approval: approve(stored.approval, ann) });
    await sweepSession(second.deps, { tenant, sessionId: id }, { cause: "crash", slot: "s" });
    expect([await ended(second, id), ran]).toEqual(["completed", [1]]);
  });

  it("do not send a mail that another process is sending", async () => {
    let sends = 0;
    let end = (): void => {};
    const mailer: Mailer = {
      destination: "test",
      send: () => {
        sends++;
        if (sends > 1) return Promise.resolve();
        return new Promise<void>((resolve) => {
          end = resolve;
        });
      },
    };
    const { world, start } = paying({ mailer });
    const process = start();
    const { sessionId: id } = await process.send();
    await until(async () => sends === 1);
    const head = await process.deps.store.log.head(tenant, id);
    const execution = head?.state.turn?.owner ?? "";
    await createSteps(process.deps).ask({
      tenant,
      sessionId: id,
      turn: 1,
      segment: 0,
      execution,
      index: 0,
      taskToken: "t2",
    });
    await process.sweep();
    expect(sends).toBe(1);
    await world.clock.advance(61_000);
    await process.sweep();
    expect(sends).toBe(2);
    end();
  });

  it("run a call again that is known not to have happened, though its approval has expired meanwhile", async () => {
    let crash: Process | undefined;
    const { world, ran, start } = paying({
      expiresIn: "1h",
      verify: () => "not_done",
      run: () => {
        const dying = crash;
        crash = undefined;
        dying?.die();
        return dying ? new Promise<never>(() => {}) : "paid";
      },
    });
    const first = start();
    crash = first;
    const { sessionId: id } = await first.send();
    await asked(first, id);
    await press(first, linkIn(world.mails[0]), "approve");
    await until(async () => first.dead());
    await world.clock.advance(7_200_000);
    const second = start();
    await second.boot();
    expect([await ended(second, id), ran]).toEqual(["completed", [1, 1]]);
  });

  it("take back a question whose call has answered after all", async () => {
    let answer = (_: string): void => {};
    const { world, start } = paying({
      run: () =>
        new Promise<string>((resolve) => {
          answer = resolve;
        }),
    });
    const process = start();
    const { sessionId: id } = await process.send();
    await asked(process, id);
    await press(process, linkIn(world.mails[0]), "approve");
    await until(
      async () => (await process.deps.store.log.head(tenant, id))?.state.turn?.calls[0]?.status === "started",
    );
    await settle();
    // The lease is over; a second delivery takes the call for interrupted and asks.
    world.clock.set(world.clock.now() + 71_000);
    const execution = (await process.deps.store.log.head(tenant, id))?.state.turn?.owner ?? "";
    const step = { tenant, sessionId: id, turn: 1, segment: 0, execution, index: 0 };
    await expect(createSteps(process.deps).act(step)).rejects.toMatchObject({ name: "ApprovalNeeded" });
    answer("paid late");
    expect(await ended(process, id)).toBe("completed");
    const all = await process.deps.store.approvals.ofSession(tenant, id);
    expect(all.map(({ approval }) => [approval.kind, approval.status])).toEqual([
      ["call", "approved"],
      ["in_doubt", "cancelled"],
    ]);
  });

  it("are listed newest first, page by page, by their status as of now", async () => {
    const { world, start } = paying({ expiresIn: "1h" });
    const process = start();
    const { sessionId: id } = await process.send();
    const [stored] = await asked(process, id);
    const page = await listApprovals(process.deps, tenant, { limit: 10, status: "pending" });
    expect(page.items.map((item) => item.id)).toEqual([stored?.approval.id]);
    await world.clock.advance(3_600_000);
    const statuses = await Promise.all(
      (["pending", "expired"] as const).map(
        async (status) => (await listApprovals(process.deps, tenant, { limit: 10, status })).items.length,
      ),
    );
    expect(statuses).toEqual([0, 1]);
    expect((await listApprovals(process.deps, "shop", { limit: 10 })).items).toEqual([]);
  });

  it("refuse a decision of somebody who is not asked", async () => {
    const { start } = paying();
    const process = start();
    const { sessionId: id } = await process.send();
    const [stored] = await asked(process, id);
    const { id: approvalId = "", inputHash = "" } = stored?.approval ?? {};
    const decision = { by: "eve@bank.example", decision: "approve", via: "signin", shownHash: inputHash } as const;
    expect(await decideApproval(process.deps, { tenant, id: approvalId }, decision)).toMatchObject({
      kind: "refused",
      reason: "not_an_approver",
    });
  });
});
