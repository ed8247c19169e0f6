// The session behind a key: the current one, or a fresh one with its true reason. One decision
// (`resolveSession`) on every path; the pointer's conditional swap makes concurrent first messages one session.
import { InvalidInput, VersionConflict } from "../core/errors.ts";
import type { FreshReason } from "../core/event.ts";
import { sessionId as makeSessionId } from "../core/ids.ts";
import { resolveSession } from "../core/resolve-session.ts";
import { agentOf, type Deps } from "../steps/deps.ts";
import { createWriter } from "../steps/run.ts";
import type { Head } from "../store/log.ts";
import type { Pointer } from "../store/pointers.ts";

export type Notice = { kind: "session_reset"; reason: FreshReason; parent: string };

export type Address = { tenant: string; user: string; key: string; agent?: string };

const maxSwaps = 20;

/** Finds or makes the session that a message for this key belongs to, and records the user's activity. */
export async function currentSession(deps: Deps, address: Address): Promise<{ head: Head; notice?: Notice }> {
  const { tenant, key } = address;
  for (let attempt = 0; attempt < maxSwaps; attempt++) {
    const pointer = await deps.store.pointers.get(tenant, key);
    const head = pointer ? await deps.store.log.head(tenant, pointer.sessionId) : null;
    if (pointer && !head) return { head: await create(deps, address, pointer.sessionId, "first") };
    const agent = agentOf(deps, head?.state.agent ?? requestedAgent(deps, address));
    if (head && address.agent !== undefined && address.agent !== head.state.agent) {
      throw new InvalidInput(
        `this conversation belongs to agent "${head.state.agent}"; use another key for "${address.agent}"`,
        {
          errors: [{ path: "agent", message: `the session has agent "${head.state.agent}"` }],
        },
      );
    }
    const now = deps.clock.now();
    const verdict = resolveSession(pointer, head?.state ?? null, agent.session, now, head ? { at: head.at } : {});
    if (verdict.kind !== "fresh" && head) {
      await deps.store.pointers.touch(tenant, key, head.sessionId, now, expiry(agent.session, now));
      return { head };
    }
    const reason = verdict.kind === "fresh" ? verdict.reason : "first";
    const fresh = await swapIn(deps, address, pointer, head, reason);
    if (fresh)
      return { head: fresh, ...(head ? { notice: { kind: "session_reset", reason, parent: head.sessionId } } : {}) };
  }
  throw new VersionConflict("the conversation is being reset by many requests at once; send the message again");
}

async function swapIn(
  deps: Deps,
  address: Address,
  pointer: Pointer | null,
  old: Head | null,
  reason: FreshReason,
): Promise<Head | null> {
  const { tenant, key } = address;
  const now = deps.clock.now();
  const id = makeSessionId(new Date(now).toISOString(), deps.ids.suffix());
  const agent = agentOf(deps, old?.state.agent ?? requestedAgent(deps, address));
  const expiresAt = expiry(agent.session, now);
  const next = { sessionId: id, lastUserAt: now, ...(expiresAt === undefined ? {} : { expiresAt }) };
  if ((await deps.store.pointers.swap(tenant, key, pointer, next)) === "refused") return null;
  return create(deps, address, id, reason, old ?? undefined);
}

async function create(deps: Deps, address: Address, sessionId: string, reason: FreshReason, old?: Head): Promise<Head> {
  const { tenant, user, key } = address;
  const writer = createWriter(`accept/${deps.ids.uuid()}`);
  try {
    return await deps.store.log.append(
      null,
      {
        type: "session.created",
        tenant,
        sessionId,
        key,
        user,
        agent: old?.state.agent ?? requestedAgent(deps, address),
        reason,
        ...(old ? { parent: { sessionId: old.sessionId, version: old.version } } : {}),
      },
      writer,
    );
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error;
    const head = await deps.store.log.head(tenant, sessionId);
    if (!head) throw error;
    return head;
  }
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

/** When the pointer expires by itself: the idle limit, if the policy has one. */
function expiry(rules: { reset: string; idleAfterMs: number }, now: number): number | undefined {
  return rules.reset === "idle" || rules.reset === "both" ? now + rules.idleAfterMs : undefined;
}
