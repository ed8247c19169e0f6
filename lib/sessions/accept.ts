// Accepting a message: one path for chat, tasks and API. The message is stored before it is answered; a
// repeated request id gives the same turn; a busy session takes it into its inbox.
import type { UserContent } from "../core/content.ts";
import { SessionBusy, VersionConflict } from "../core/errors.ts";
import type { InboxMessage } from "../core/event.ts";
import { type Json, type JsonObject, toJson } from "../core/json.ts";
import { requireBudget } from "../steps/budget/require-budget.ts";
import { agentOf, type Deps } from "../steps/deps.ts";
import { nameExecution } from "../steps/run.ts";
import { canonical, sha256 } from "../store/encoding.ts";
import type { Head } from "../store/log.ts";
import { currentSession, type Notice } from "./current-session.ts";

export type BusyPolicy = "enqueue" | "steer" | "interrupt" | "reject";

export type Accept = {
  tenant: string;
  user: string;
  key: string;
  content: UserContent[];
  /** @default the runtime's first agent, or the one the session has */
  agent?: string;
  /** @default the agent's policy */
  busy?: BusyPolicy;
  idempotencyKey?: string;
  via: InboxMessage["from"]["via"];
  deliverTo?: Json;
};

export type Accepted = {
  key: string;
  sessionId: string;
  turn: number;
  messageId: string;
  status: "started" | "queued";
  /** Messages before it, itself included, when queued: 1 = next. */
  position?: number;
  notice?: Notice;
};

/** Until the sweeper looks after a session whose execution was never seen to start. */
const startGraceMs = 60_000;

/**
 * Stores the message and starts its turn, or queues it. Throws `IdempotencyMismatch`, `SessionBusy` (policy reject),
 * `InvalidInput`; after any throw a repeat with the same key is safe.
 */
export async function acceptMessage(deps: Deps, message: Accept): Promise<Accepted> {
  toJson(message.content, "content");
  const { tenant, key } = message;
  const once = message.idempotencyKey === undefined ? undefined : `message:${sha256(message.idempotencyKey)}`;
  const { head, notice } = await currentSession(deps, message);
  const busy = message.busy ?? agentOf(deps, head.state.agent).session.busy;
  const known = once ? await deps.store.once.get(tenant, once) : null;
  if (busy === "reject" && head.state.turn && !known) {
    throw new SessionBusy(
      `turn ${head.state.turn.turn} is running and the session takes one message at a time; wait for its end`,
    );
  }
  // A request that was accepted before keeps its turn, whatever the budget is now.
  if (!known) await requireBudget(deps, head);
  const planned: JsonObject = {
    key,
    sessionId: head.sessionId,
    messageId: deps.ids.uuid(),
    ...(notice ? { notice } : {}),
  };
  const claim = once ? await deps.store.once.claim(tenant, once, bodyHash(message), planned) : null;
  const given = (claim?.record.result ?? planned) as {
    sessionId: string;
    messageId: string;
    turn?: number;
    notice?: Notice;
  };
  if (claim?.record.stage !== "consumed") await store(deps, message, given, once);
  return answer(deps, message, given, once);
}

/** Puts the message into its session's inbox; again is harmless. */
async function store(
  deps: Deps,
  message: Accept,
  given: { sessionId: string; messageId: string },
  once?: string,
): Promise<void> {
  const { tenant } = message;
  const head = await deps.store.log.head(tenant, given.sessionId);
  const stored: Omit<InboxMessage, "seq"> = {
    messageId: given.messageId,
    content: message.content,
    at: deps.clock.now(),
    from: { user: message.user, via: message.via },
    ...(once ? { once } : {}),
    ...(message.deliverTo === undefined ? {} : { deliverTo: message.deliverTo }),
  };
  await deps.store.inbox.add(tenant, given.sessionId, stored, head?.state.marks.inboxSeq ?? 0);
}

/** Finds the message's place from what is stored now, and starts the turn when none is open. */
async function answer(
  deps: Deps,
  message: Accept,
  given: { sessionId: string; messageId: string; turn?: number; notice?: Notice },
  once?: string,
): Promise<Accepted> {
  const { tenant, key } = message;
  const { sessionId, messageId, notice } = given;
  const base = { key, sessionId, messageId, ...(notice ? { notice } : {}) };
  // Order matters: the inbox first, then the log. A turn that ends in between has then seen the message.
  const waiting = await deps.store.inbox.list(tenant, sessionId);
  const head = await deps.store.log.head(tenant, sessionId);
  if (!head) throw new VersionConflict(`session ${sessionId} was erased while the message arrived`);
  const ahead = waiting.findIndex((candidate) => candidate.messageId === messageId);
  const turn = given.turn ?? (ahead < 0 ? await turnOf(deps, head, messageId) : head.state.turns + ahead + 1);
  if (once && given.turn === undefined)
    await deps.store.once.settle(tenant, once, { ...base, turn } as unknown as Json);
  if (ahead < 0) return { ...base, turn, status: "started" };
  if (head.state.turn) return { ...base, turn, status: "queued", position: ahead + 1 };
  await startNext(deps, head);
  return ahead === 0 ? { ...base, turn, status: "started" } : { ...base, turn, status: "queued", position: ahead };
}

/** Starts an execution for the next turn of an idle session. */
export async function startNext(deps: Deps, head: Head, salt?: string): Promise<void> {
  const { tenant, sessionId } = head;
  const turn = head.state.turns + 1;
  const now = deps.clock.now();
  await deps.store.statuses.write(head.state, head.version, now, now + startGraceMs);
  const name = nameExecution({ tenant, sessionId, turn, segment: 0, ...(salt ? { salt } : {}) });
  await deps.orchestrator.start(name, { tenant, sessionId, turn, segment: 0, cause: "" });
}

/** The turn that has the message already: the latest one that is not older than it. */
async function turnOf(deps: Deps, head: Head, messageId: string): Promise<number> {
  for await (const { event } of deps.store.log.lineage(head.tenant, head.sessionId, head.version)) {
    if (event.type === "turn.started" && event.messages.some((candidate) => candidate.messageId === messageId))
      return event.turn;
    if (event.type === "turn.steered" && event.messages.some((candidate) => candidate.messageId === messageId))
      return head.state.turns;
  }
  return head.state.turns;
}

/** The request apart from its key: a repeat must be equal in these. */
function bodyHash(message: Accept): string {
  const { key, content, agent, busy, user, deliverTo } = message;
  return sha256(
    canonical(toJson({ key, content, user, agent: agent ?? null, busy: busy ?? null, deliverTo: deliverTo ?? null })),
  );
}
