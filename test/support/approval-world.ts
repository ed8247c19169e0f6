// A world for approvals: one table, one clock, one mailbox and one witness of effects, and as many processes on
// them, one after the other or at once, as a test needs. Every process is the real runtime with the real API.
import { createHmacSigner } from "../../lib/adapters/hmac-signer.ts";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { type Api, createApi } from "../../lib/api/create-api.ts";
import { defineAgent } from "../../lib/core/define-agent.ts";
import type { Agent } from "../../lib/core/define-flow.ts";
import type { Tool } from "../../lib/core/define-tool.ts";
import type { Event } from "../../lib/core/event.ts";
import type { ReplyLine } from "../../lib/demo-model/script-line.ts";
import { buildRuntime, type Runtime, type RuntimeOptions } from "../../lib/local/build-runtime.ts";
import type { Mail, Mailer } from "../../lib/ports/mailer.ts";
import type { Model } from "../../lib/ports/model.ts";
import { type Accepted, acceptMessage } from "../../lib/sessions/accept.ts";
import { type SweepCounts, sweepDue } from "../../lib/sessions/sweep.ts";
import type { StoredApproval } from "../../lib/store/approvals.ts";
import { silentLog } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { Crash, createFaultyTable, type FaultPlan } from "../../lib/testing/faulty-table.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";

export const tenant = "bank";

export type WorldOptions = {
  tools: Tool[];
  script: ReplyLine[];
  /** @default keeps what it is given, in `mails` */
  mailer?: Mailer;
  model?: Model;
  agent?: Agent;
};

export type Process = Runtime & {
  api: Api;
  /** Ends it as SIGKILL would: nothing of it reaches the table any more. */
  kill(): Promise<void>;
  /** The same at once, from within: what is under way never comes to an end. */
  die(): void;
  dead(): boolean;
  /** Writes that reached the table or were to. */
  writes(): number;
  boot(): Promise<SweepCounts>;
  sweep(): Promise<SweepCounts>;
  /** @default user: rita */
  send(text?: string, user?: string): Promise<Accepted>;
};

export function approvalWorld(options: WorldOptions) {
  const clock = fakeClock();
  const table = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  const signer = createHmacSigner({ key: new Uint8Array(32).fill(7) });
  const mails: Mail[] = [];
  const outbox: Mailer = {
    destination: "test",
    async send(mail) {
      mails.push(mail);
    },
  };
  const agent =
    options.agent ??
    defineAgent({ name: "clerk", instructions: "Do it.", model: { id: "scripted" }, tools: options.tools });
  let processes = 0;

  function start(
    faults: FaultPlan = [],
    more: { agent?: Agent; interpreter?: RuntimeOptions["interpreter"] } = {},
  ): Process {
    let killed = false;
    const seed = `process ${++processes}`;
    const faulty = createFaultyTable(table, [{ fault: "death before", on: () => killed }, ...faults]);
    const dead = () => killed || faulty.dead;
    const used = more.agent ?? agent;
    const runtime = buildRuntime({
      agents: new Map([[used.name, used]]),
      model: options.model ?? replayModel(options.script),
      table: faulty,
      blobs,
      clock,
      ids: seededIds(seed),
      log: silentLog,
      signer,
      publicUrl: () => "http://127.0.0.1:8787",
      mailer: {
        destination: "test",
        // A dead process sends nothing.
        send: async (mail) => {
          if (dead()) throw new Crash("the process is dead");
          await (options.mailer ?? outbox).send(mail);
        },
      },
      interpreter: { waitOverrideMs: 0, retryOverrideMs: 0, ...more.interpreter },
    });
    let sweeps = 0;
    return {
      ...runtime,
      api: createApi({
        deps: runtime.deps,
        // A token "tenant:user" or "tenant:user:email".
        authenticate: async (token) => {
          const [of = "", user = "", email] = token.split(":");
          return { tenant: of, user, ...(email ? { email } : {}) };
        },
        info: { version: "test", model: "scripted" },
      }),
      dead,
      die: () => {
        killed = true;
      },
      writes: () => faulty.writes,
      async kill() {
        killed = true;
        await runtime.stop(0).catch(() => {});
      },
      boot: () => sweepDue(runtime.deps, { before: Number.MAX_SAFE_INTEGER, cause: "crash", slot: seed }),
      sweep: () => sweepDue(runtime.deps, { before: clock.now(), cause: "stuck", slot: `${seed}-${++sweeps}` }),
      send: (text = "go", user = "rita") =>
        acceptMessage(runtime.deps, {
          tenant,
          user,
          key: "agent:clerk:test",
          content: [{ type: "text", text }],
          via: "api",
          idempotencyKey: text,
        }),
    };
  }

  async function events(process: Runtime, sessionId: string): Promise<Event[]> {
    return (await process.deps.store.log.events(tenant, sessionId, 0)).map(({ event }) => event);
  }

  return { clock, table, blobs, signer, mails, agent, start, events };
}

export type World = ReturnType<typeof approvalWorld>;

/** Resolves once `look` answers something: each change of the log or of an answer of the runtime is a chance. */
export async function until<T>(look: () => Promise<T | null | undefined | false>, what = "it"): Promise<T> {
  for (let tries = 0; tries < 100_000; tries++) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`${what} did not come about`);
}

/** The session's approvals, once there are `count` pending ones that were mailed (or have nobody to mail). */
export function asked(process: Runtime, sessionId: string, count = 1): Promise<StoredApproval[]> {
  return until(async () => {
    const all = await process.deps.store.approvals.ofSession(tenant, sessionId);
    const open = all.filter(({ approval, taskToken }) => approval.status === "pending" && taskToken);
    const settledMail = open.every(({ approval }) =>
      approval.approvers.every((person) => person.secretHash !== "" && person.mailed?.request?.status !== "sending"),
    );
    return open.length >= count && settledMail ? open : null;
  }, `${count} approvals`);
}

/** The end of the turn. */
export function ended(process: Runtime, sessionId: string, turn = 1): Promise<string> {
  return until(async () => {
    const head = await process.deps.store.log.head(tenant, sessionId);
    return head?.state.lastTurn?.turn === turn ? head.state.lastTurn.endReason : null;
  }, "the end of the turn");
}

/** The links in a mail, as a person would find them. */
export function linkIn(mail: Mail | undefined): string {
  const link = /http:\/\/\S+\/approve\/\S+/.exec(mail?.text ?? "")?.[0];
  if (!link) throw new Error("the mail has no link");
  return link;
}

/** Lets everything that can go on without time or people go on. */
export async function settle(ticks = 60): Promise<void> {
  for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setImmediate(resolve));
}

/** Opens a link, as seen by the runtime, from `address`. */
export function visit(
  process: Process,
  link: string,
  init: RequestInit = {},
  address = "203.0.113.9",
): Promise<Response> {
  return process.api.fetch(new Request(link, init), { incoming: { socket: { remoteAddress: address } } });
}

/** Presses one button of the page behind a link. */
export async function press(process: Process, link: string, button: string, page?: string): Promise<Response> {
  const html = page ?? (await (await visit(process, link)).text());
  const nonce = /name="nonce" value="([^"]+)"/.exec(html)?.[1] ?? "";
  return visit(process, link, { method: "POST", body: new URLSearchParams({ nonce, do: button }) });
}
