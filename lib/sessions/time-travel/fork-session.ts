// Fork: a new session whose past is another one up to a version. Nothing is copied; the parent is not touched, works on,
// and may be closed. The new session is reached by a key of its own.
import { VersionConflict } from "../../core/errors.ts";
import type { Event } from "../../core/event.ts";
import { sessionId as makeSessionId } from "../../core/ids.ts";
import type { Deps } from "../../steps/deps.ts";
import { createWriter } from "../../steps/run.ts";
import type { Head } from "../../store/log.ts";
import { readHandoff } from "../carry-over.ts";
import type { SessionAddress } from "../control.ts";
import { requireVersion } from "../require-version.ts";
import { sessionHead } from "../session-head.ts";
import { pointerExpiry, rulesOf } from "../session-rules.ts";
import { sideEffectsAfter } from "./side-effects.ts";
import { wholeVersion } from "./whole-version.ts";

export type ForkOptions = {
  version: number;
  /** The parent's version that the caller has seen. */
  ifVersion?: number;
  /** Id of the new session when the request may come again. @default a new one */
  id?: string;
};

/** Answers the new session. Throws `InvalidInput`, `ImpossibleTransition`, `StaleVersion`. */
export async function forkSession(deps: Deps, at: SessionAddress, options: ForkOptions): Promise<Head> {
  const { tenant } = at;
  const parent = await sessionHead(deps, tenant, at.sessionId);
  const now = deps.clock.now();
  const id = options.id ?? makeSessionId(new Date(now).toISOString(), deps.ids.suffix());
  const fork = (await deps.store.log.head(tenant, id)) ?? (await create(deps, parent, id, at.user, options));
  const { key, agent } = fork.state;
  const expiresAt = pointerExpiry(rulesOf(deps, agent), now);
  await deps.store.statuses.write(fork.state, fork.version, now, now);
  // Refused only for a repeat: the key is made of the new id.
  await deps.store.pointers.swap(tenant, key, null, {
    sessionId: id,
    lastUserAt: now,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
  return fork;
}

async function create(deps: Deps, parent: Head, id: string, user: string, options: ForkOptions): Promise<Head> {
  requireVersion(parent, options.ifVersion);
  const { version, state } = await wholeVersion(deps, parent, options.version);
  const [sideEffects, handoff] = await Promise.all([
    sideEffectsAfter(deps, parent, version),
    state.marks.handoff ? readHandoff(deps, parent, state.marks.handoff) : undefined,
  ]);
  const event: Event = {
    type: "session.created",
    tenant: parent.tenant,
    sessionId: id,
    key: forkKey(parent.state.key, id),
    user,
    agent: parent.state.agent,
    reason: "fork",
    parent: { sessionId: parent.sessionId, version },
    fork: true,
    ...(handoff ? { handoff } : {}),
    ...(sideEffects.length > 0 ? { sideEffects } : {}),
  };
  try {
    return await deps.store.log.append(null, event, createWriter(`fork/${deps.ids.uuid()}`));
  } catch (error) {
    const other = error instanceof VersionConflict ? await deps.store.log.head(parent.tenant, id) : null;
    if (!other) throw error;
    return other;
  }
}

/** Bytes that a key may have (see the API). */
const maxKeyBytes = 512;
const suffixPattern = /#fork-[0-9a-f]{8}$/;

/** `<key>#fork-<last part of the new id>`; a fork of a fork has one suffix too. A key that leaves no room is replaced. */
export function forkKey(key: string, id: string): string {
  const suffix = `#fork-${id.slice(-8)}`;
  const made = `${key.replace(suffixPattern, "")}${suffix}`;
  return Buffer.byteLength(made) <= maxKeyBytes ? made : `fork${suffix}`;
}
