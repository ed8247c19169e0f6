// Accepting a message: one path for chat, tasks and API. The message is stored before it is answered; a
// repeated request id gives the same turn; a busy session takes it into its inbox.
import type { UserContent } from "../core/content.ts";
import { SessionBusy, TenantStopped, VersionConflict } from "../core/errors.ts";
import type { InboxMessage } from "../core/event.ts";
import { type Json, type JsonObject, toJson } from "../core/json.ts";
import { requireBudget } from "../steps/budget/require-budget.ts";
import { agentOf, type Deps } from "../steps/deps.ts";
import { canonical, sha256 } from "../store/encoding.ts";
import type { Head } from "../store/log.ts";
import type { Once } from "../store/once.ts";
import { answerCommand } from "./commands/answer-command.ts";
import { type CommandName, readCommand } from "./commands/read-command.ts";
import { type Current, currentSession } from "./current-session.ts";
import { findMessage } from "./find-message.ts";
import { interruptTurn } from "./interrupt-turn.ts";
import { goOnWaiting } from "./move-on.ts";
import { startRecovery } from "./recovery.ts";
import { type Notice, resetNotice } from "./reset-notice.ts";
import { startNext } from "./start-next.ts";

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
  /** The turn that has the message, or is expected to. */
  turn: number;
  messageId: string;
  /** `completed`: a chat command, answered without the model. */
  status: "started" | "queued" | "completed";
  /** Messages before it, itself included, when queued: 1 = next. */
  position?: number;
  notice?: Notice;
  command?: CommandName;
  answer?: string;
};

/** What was fixed when the request came first: the record of its id holds it. */
type Given = {
  sessionId: string;
  messageId: string /** Turn to be interrupted. */;
  interrupts?: number;
  notice?: Notice;
};

const maxMoves = 20;

/**
 * Stores the message and starts its turn, or queues it. Throws `IdempotencyMismatch`, `SessionBusy` (policy reject),
 * `TenantStopped`, `BudgetExceeded`, `InvalidInput`; after any throw a repeat with the same key is safe.
 */
export async function acceptMessage(deps: Deps, message: Accept): Promise<Accepted> {
  toJson(message.content, "content");
  const once = message.idempotencyKey === undefined ? undefined : `message:${sha256(message.idempotencyKey)}`;
  const command = message.via === "task" ? null : readCommand(message.content);
  if (command) return answerCommand(deps, message, { ...command, once, bodyHash: bodyHash(message) });
  const known = once ? await deps.store.once.get(message.tenant, once) : null;
  // A repeat is no activity of the user: it neither resets nor keeps alive.
  return known && once ? acceptAgain(deps, message, once) : acceptFirst(deps, message, once);
}

async function acceptFirst(deps: Deps, message: Accept, once: string | undefined): Promise<Accepted> {
  const { tenant } = message;
  const stop = await deps.store.stops.get(tenant);
  if (stop) throw new TenantStopped(`all work is stopped since ${new Date(stop.at).toISOString()}: ${stop.reason}`);
  const current = await currentSession(deps, message);
  const busy = busyPolicy(deps, message, current.head);
  await refuseIfBusy(deps, busy, current.head);
  await requireBudget(deps, current.head);
  const planned: Given = {
    sessionId: current.head.sessionId,
    messageId: deps.ids.uuid(),
    ...(busy === "interrupt" && current.head.state.turn ? { interrupts: current.head.state.turn.turn } : {}),
  };
  const claim = once
    ? await deps.store.once.claim(tenant, once, bodyHash(message), { key: message.key, ...planned } as JsonObject)
    : null;
  // Somebody else sent the same in the same instant.
  if (claim && once && !claim.first) return acceptAgain(deps, message, once);
  const stored = await store(deps, message, planned, { busy, once, alone: busy === "reject" });
  if (!stored) {
    if (once) await deps.store.once.release(tenant, once);
    throw busyError(current.head);
  }
  await recover(deps, current);
  return answer(deps, message, planned, once);
}

async function acceptAgain(deps: Deps, message: Accept, once: string): Promise<Accepted> {
  const { record } = await deps.store.once.claim(message.tenant, once, bodyHash(message), {});
  const given = record.result as unknown as Given;
  if (record.stage === "consumed" && record.place) return placed(deps, message, given, record.place);
  if (record.stage === "pending") {
    const head = await deps.store.log.head(message.tenant, given.sessionId);
    const busy = head ? busyPolicy(deps, message, head) : "enqueue";
    await store(deps, message, given, { busy, once });
  }
  return answer(deps, message, given, once);
}

async function placed(deps: Deps, message: Accept, given: Given, place: NonNullable<Once["place"]>): Promise<Accepted> {
  const { messageId } = given;
  const head = given.notice ? null : await deps.store.log.head(message.tenant, place.sessionId);
  const notice = given.notice ?? (head ? await resetNotice(deps, head, messageId) : undefined);
  return { key: message.key, ...place, messageId, status: "started", ...(notice ? { notice } : {}) };
}

function busyPolicy(deps: Deps, message: Accept, head: Head): BusyPolicy {
  const busy = message.busy ?? agentOf(deps, head.state.agent).session.busy;
  // An answer that is delivered is that of a turn of its own.
  return busy === "steer" && message.deliverTo !== undefined ? "enqueue" : busy;
}

/** Decided on what stands now. Of messages in the same instant one may still be queued: nothing stored is refused. */
async function refuseIfBusy(deps: Deps, busy: BusyPolicy, head: Head): Promise<void> {
  if (busy !== "reject") return;
  const waits = await deps.store.inbox.list(head.tenant, head.sessionId, { limit: 1 });
  if (head.state.turn || waits.length > 0) throw busyError(head);
}

function busyError({ state }: Head): Error {
  const what = state.turn ? `turn ${state.turn.turn} is running` : "another message was first";
  return new SessionBusy(`${what} and the session takes one message at a time; wait for its end`);
}

/** Puts the message into its session's inbox; again is harmless. False: `alone`, and something else waits. */
async function store(
  deps: Deps,
  message: Accept,
  given: Given,
  how: { busy: BusyPolicy; once?: string | undefined; alone?: boolean },
): Promise<boolean> {
  const { tenant } = message;
  const head = await deps.store.log.head(tenant, given.sessionId);
  const stored: Omit<InboxMessage, "seq"> = {
    messageId: given.messageId,
    content: message.content,
    at: deps.clock.now(),
    from: { user: message.user, via: message.via },
    ...(how.once ? { once: how.once } : {}),
    ...(message.deliverTo === undefined ? {} : { deliverTo: message.deliverTo }),
    // An answer that is to be delivered is that of a turn of its own.
    ...(how.busy === "steer" && message.deliverTo === undefined ? { mode: "steer" } : {}),
  };
  const consumedSeq = head?.state.marks.inboxSeq ?? 0;
  const { inbox } = deps.store;
  if (how.alone) return (await inbox.addAlone(tenant, given.sessionId, stored, consumedSeq)) !== null;
  await inbox.add(tenant, given.sessionId, stored, consumedSeq);
  return true;
}

async function recover(deps: Deps, { head, recover: verdict }: Current): Promise<void> {
  if (verdict) await startRecovery(deps, head, verdict.cause);
}

/** Finds the message's place from what is stored now, and starts the turn when none is open. */
async function answer(deps: Deps, message: Accept, given: Given, once?: string): Promise<Accepted> {
  const { tenant, key, user } = message;
  const { messageId } = given;
  for (let move = 0; move < maxMoves; move++) {
    const place = await findMessage(deps, tenant, given.sessionId, messageId);
    if (!place) throw new VersionConflict(`session ${given.sessionId} was erased while the message arrived`);
    const { head } = place;
    if (place.kind === "waiting" && !head.state.turn && head.state.lifecycle.kind !== "open") {
      // Stopped or reset since: the message goes on to where the conversation is.
      await goOnWaiting(deps, head, { user, userAt: deps.clock.now() });
      continue;
    }
    const notice = given.notice ?? (await resetNotice(deps, head, messageId));
    if (once && notice && !given.notice) {
      await deps.store.once.settle(tenant, once, { key, ...given, notice } as unknown as Json);
    }
    const base = { key, sessionId: head.sessionId, messageId, ...(notice ? { notice } : {}) };
    if (place.kind !== "waiting") {
      return { ...base, turn: place.kind === "turn" ? place.turn : head.state.turns, status: "started" };
    }
    const { ahead } = place;
    const turn = head.state.turns + ahead + 1;
    if (!head.state.turn) {
      await startNext(deps, head);
      return ahead === 0 ? { ...base, turn, status: "started" } : { ...base, turn, status: "queued", position: ahead };
    }
    if (given.interrupts === head.state.turn.turn) await interruptTurn(deps, head, user);
    const steers = busyPolicy(deps, message, head) === "steer" && message.deliverTo === undefined;
    return { ...base, turn: steers ? head.state.turn.turn : turn, status: "queued", position: ahead + 1 };
  }
  throw new VersionConflict("the conversation is being reset by many requests at once; send the message again");
}

/** The request apart from its key: a repeat must be equal in these. */
function bodyHash(message: Accept): string {
  const { key, content, agent, busy, user, deliverTo } = message;
  return sha256(
    canonical(toJson({ key, content, user, agent: agent ?? null, busy: busy ?? null, deliverTo: deliverTo ?? null })),
  );
}
