// Erasing a session: every item of its partition, its blobs, its address. Real, and not to be undone.
import { ImpossibleTransition } from "../../core/errors.ts";
import { sessionScope } from "../../steps/budget/budget-scopes.ts";
import type { Deps } from "../../steps/deps.ts";
import { blobsOf } from "../../store/encoding.ts";
import type { FactScope } from "../../store/facts.ts";
import { budgetKey, sessionBlobs, sessionPk, versionPrefix } from "../../store/keys.ts";
import { sessionHead } from "../session-head.ts";

/**
 * Throws `NotFound`, and `ImpossibleTransition` while a turn is open or a message waits: stop it first,
 * since a running step would write again.
 * A repeat after a crash goes on; the latest version goes last, so that until then the session is still found.
 * `facts`: what long-term memory has learnt from it goes too. @default false, it stays the user's
 */
export async function eraseSession(
  deps: Deps,
  tenant: string,
  sessionId: string,
  options: { facts?: boolean } = {},
): Promise<void> {
  const head = await sessionHead(deps, tenant, sessionId);
  const waiting = await deps.store.inbox.waiting(tenant, sessionId);
  if (head.state.turn || waiting.length > 0) {
    throw new ImpossibleTransition("the session has work to do; stop the session first, then delete it");
  }
  const { table, blobs, pointers, log, lessons } = deps.store;
  if (!(await lessons.clear(tenant, sessionId, deps.clock.now()))) {
    throw new ImpossibleTransition("long-term memory is learning from the session; try again in a few minutes");
  }
  if (options.facts) await eraseFacts(deps, { tenant, user: head.state.user }, sessionId);
  await deps.store.usageDays.anonymise(head.state, deps.clock.now());
  await table.remove(budgetKey(tenant, `${sessionScope}${sessionId}`));
  await pointers.remove(tenant, head.state.key, sessionId);
  const items = await table.query({ pk: sessionPk(tenant, sessionId) });
  const versions = items.filter((item) => item.sk.startsWith(versionPrefix));
  const others = items.filter((item) => !item.sk.startsWith(versionPrefix));
  for (const hash of items.flatMap(blobsOf)) await blobs.remove(sessionBlobs(tenant, sessionId), hash);
  for (const item of [...others, ...versions]) {
    await table.remove({ pk: item.pk, sk: item.sk });
  }
  log.forget(tenant, sessionId);
}

async function eraseFacts({ store: { facts } }: Deps, scope: FactScope, sessionId: string): Promise<void> {
  for (const { id, source } of await facts.list(scope)) {
    if (source.sessionId === sessionId) await facts.remove(scope, id);
  }
}
