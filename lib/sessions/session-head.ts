// The one way from a tenant and an id that a client sent to a session. An id of another tenant, a malformed one
// and an unknown one give the same answer, so that nobody can find out what others have (G6).
import { NotFound } from "../core/errors.ts";
import { sessionIdPattern } from "../core/ids.ts";
import type { Deps } from "../steps/deps.ts";
import type { Head } from "../store/log.ts";

/** The latest version, read strongly; throws `NotFound`. */
export async function sessionHead(deps: Pick<Deps, "store">, tenant: string, sessionId: string): Promise<Head> {
  const head = sessionIdPattern.test(sessionId) ? await deps.store.log.head(tenant, sessionId) : null;
  if (!head) throw new NotFound("no such session");
  return head;
}
