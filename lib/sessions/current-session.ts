// The session behind a key: the current one, or a fresh one with its true reason. One decision
// (`resolveSession`) on every path; the pointer's conditional swap makes concurrent first messages one session.
import { InvalidInput, VersionConflict } from "../core/errors.ts";
import { sessionId as makeSessionId } from "../core/ids.ts";
import { type Resolution, resolveSession } from "../core/resolve-session.ts";
import { agentOf, type Deps } from "../steps/deps.ts";
import { createWriter } from "../steps/run.ts";
import type { Head } from "../store/log.ts";
import type { Pointer } from "../store/pointers.ts";
import { closeSession } from "./close-session.ts";
import { openSuccessor } from "./open-successor.ts";
import { pointerExpiry, rulesOf } from "./session-rules.ts";

export type Address = { tenant: string; user: string; key: string; agent?: string };

/** `recover`: its work was interrupted, and is to be taken up. */
export type Current = { head: Head; recover?: Extract<Resolution, { kind: "resume" }> };

const maxSwaps = 20;

/** Finds or makes the session that a message for this key belongs to, and records the user's activity. */
export async function currentSession(deps: Deps, address: Address): Promise<Current> {
  const { tenant, user, key } = address;
  for (let attempt = 0; attempt < maxSwaps; attempt++) {
    const pointer = await deps.store.pointers.get(tenant, key);
    const head = pointer ? await deps.store.log.head(tenant, pointer.sessionId) : null;
    if (pointer && !head) return { head: await createFirst(deps, address, pointer.sessionId) };
    if (!pointer || !head || isDeadEnd(head)) {
      const first = await claimKey(deps, address, pointer);
      if (first) return { head: first };
      continue;
    }
    checkAgent(address, head);
    const now = deps.clock.now();
    const verdict = await resolveNow(deps, pointer, head);
    if (verdict.kind === "fresh") {
      const closed = await closeSession(deps, head, verdict.reason);
      // Then look again: the key leads to the successor now, whoever opened it.
      if (closed) await openSuccessor(deps, closed, { user, userAt: now });
      continue;
    }
    const expiresAt = pointerExpiry(agentOf(deps, head.state.agent).session, now);
    await deps.store.pointers.touch(tenant, key, head.sessionId, now, expiresAt);
    return verdict.kind === "resume" ? { head, recover: verdict } : { head };
  }
  throw new VersionConflict("the conversation is being reset by many requests at once; send the message again");
}

/** The one decision, with what only the orchestrator knows asked only where it matters. */
export async function resolveNow(deps: Deps, pointer: Pointer | null, head: Head): Promise<Resolution> {
  const rules = rulesOf(deps, head.state.agent);
  const now = deps.clock.now();
  const verdict = resolveSession(pointer, head.state, rules, now, { at: head.at });
  const { turn } = head.state;
  if (!turn || verdict.kind !== "resume" || verdict.cause !== "stuck") return verdict;
  const running = await deps.orchestrator.isRunning(turn.owner);
  return running ? resolveSession(pointer, head.state, rules, now, { at: head.at, running }) : verdict;
}

/** Closed without a successor (erased): the key starts anew. */
function isDeadEnd({ state }: Head): boolean {
  return state.lifecycle.kind === "closed" && !state.lifecycle.successor;
}

/** Takes the key for a new session; null when somebody else has. */
async function claimKey(deps: Deps, address: Address, pointer: Pointer | null): Promise<Head | null> {
  const { tenant, key } = address;
  const now = deps.clock.now();
  const sessionId = makeSessionId(new Date(now).toISOString(), deps.ids.suffix());
  const expiresAt = pointerExpiry(agentOf(deps, requestedAgent(deps, address)).session, now);
  const next = { sessionId, lastUserAt: now, ...(expiresAt === undefined ? {} : { expiresAt }) };
  const swapped = await deps.store.pointers.swap(tenant, key, pointer, next);
  return swapped === "refused" ? null : createFirst(deps, address, sessionId);
}

async function createFirst(deps: Deps, address: Address, sessionId: string): Promise<Head> {
  const { tenant, user, key } = address;
  const agent = requestedAgent(deps, address);
  const writer = createWriter(`accept/${deps.ids.uuid()}`);
  try {
    return await deps.store.log.append(
      null,
      { type: "session.created", tenant, sessionId, key, user, agent, reason: "first" },
      writer,
    );
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error;
    const head = await deps.store.log.head(tenant, sessionId);
    if (!head) throw error;
    return head;
  }
}

function checkAgent(address: Address, { state }: Head): void {
  if (address.agent === undefined || address.agent === state.agent) return;
  throw new InvalidInput(
    `this conversation belongs to agent "${state.agent}"; use another key for "${address.agent}"`,
    { errors: [{ path: "agent", message: `the session has agent "${state.agent}"` }] },
  );
}

function requestedAgent(deps: Deps, address: Address): string {
  const [first] = deps.agents.keys();
  const name = address.agent ?? first ?? "";
  if (deps.agents.has(name)) return name;
  const known = [...deps.agents.keys()].join(", ");
  throw new InvalidInput(`there is no agent "${name}"; this runtime has: ${known}`, {
    errors: [{ path: "agent", message: `unknown; one of: ${known}` }],
  });
}
