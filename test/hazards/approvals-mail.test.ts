// Mail over a real SMTP server that misbehaves: H23.
import { defineTool } from "baton";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createSmtpMailer } from "../../lib/adapters/smtp-mailer.ts";
import { decideApproval } from "../../lib/sessions/approvals/decide-approval.ts";
import { approvalWorld, ended, type Process, tenant, until } from "../support/approval-world.ts";
import { type SmtpBehaviour, startSmtpServer } from "../support/smtp-server.ts";

const ann = "ann@bank.example";
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function mailing(behaviours: SmtpBehaviour[]) {
  const server = await startSmtpServer({ behaviours });
  closers.push(() => server.close());
  const mailer = createSmtpMailer({
    url: `smtp://127.0.0.1:${server.port}?tls=never`,
    from: "Baton <baton@bank.example>",
    timeoutMs: 2000,
  });
  const pay = defineTool({
    name: "pay",
    description: "pays",
    input: z.object({ n: z.int() }),
    effect: "once",
    approval: { approvers: [ann] },
    run: () => "paid",
  });
  const world = approvalWorld({
    tools: [pay],
    mailer,
    script: [{ calls: [{ name: "pay", input: { n: 1 } }] }, { text: "done" }],
  });
  const start = (): Process => {
    const process = world.start();
    closers.push(() => process.kill());
    return process;
  };
  return { server, world, start };
}

/** Once the machine waits for people: the tries of Ask are over. */
const paused = (process: Process) =>
  until(async () => {
    const { rows } = await process.deps.store.statuses.recent(tenant, { limit: 1 });
    return rows[0]?.status === "paused";
  }, "the pause");

async function journal(process: Process, sessionId: string) {
  const [stored] = await process.deps.store.approvals.ofSession(tenant, sessionId);
  return { stored, mark: stored?.approval.approvers[0]?.mailed?.request };
}

describe("approval mail", () => {
  for (const behaviour of ["take-then-503", "take-then-drop", "greylist", "drop"] as const) {
    it(`is tried again with the same bytes when the server does this: ${behaviour} (H23)`, async () => {
      const { server, world, start } = await mailing([behaviour, behaviour]);
      const process = start();
      const { sessionId } = await process.send();
      await paused(process);
      const tries: (string | undefined)[] = [];
      for (const wait of [0, 60_000, 120_000]) {
        await world.clock.advance(wait);
        await process.sweep();
        tries.push((await journal(process, sessionId)).mark?.status);
      }
      expect(tries).toEqual(["sending", "sending", "sent"]);
      expect(server.received.filter(({ accepted }) => accepted).length).toBe(1);
      const distinct = new Set(server.received.map(({ bytes }) => bytes.toString("latin1")));
      expect(distinct.size).toBe(1);
      expect(server.received.length).toBe(behaviour.startsWith("take") ? 3 : 1);
    });
  }

  it("is not tried again when the server refused it for good, and the call can still be decided (H23)", async () => {
    const { server, world, start } = await mailing(["no-such-user"]);
    const process = start();
    const { sessionId } = await process.send();
    await paused(process);
    const { stored, mark } = await journal(process, sessionId);
    expect([mark?.status, mark?.error]).toEqual(["refused", "mail.refused"]);
    await world.clock.advance(600_000);
    await process.sweep();
    expect(server.received).toEqual([]);
    const { id = "", inputHash = "" } = stored?.approval ?? {};
    await decideApproval(
      process.deps,
      { tenant, id },
      { by: ann, decision: "approve", via: "signin", shownHash: inputHash },
    );
    expect(await ended(process, sessionId)).toBe("completed");
  });

  it("of a process that died while sending is sent by the next one, with the same bytes (H23)", async () => {
    const { server, start } = await mailing(["take-then-hang"]);
    const first = start();
    const { sessionId } = await first.send();
    await until(async () => server.received.length === 1, "the first try");
    await first.kill();
    const second = start();
    await second.boot();
    await until(async () => (await journal(second, sessionId)).mark?.status === "sent", "the mail");
    expect(server.received.length).toBe(2);
    expect(server.received[0]?.bytes.equals(server.received[1]?.bytes ?? Buffer.alloc(0))).toBe(true);
  });
});
