// Whose facts a request may touch: the caller's own, or those of another user of the tenant with the scope for it.
import { Forbidden } from "../core/errors.ts";
import type { FactScope } from "../store/facts.ts";
import type { Caller } from "./api-context.ts";

/** Scope of a token that may look after the facts of other users of its tenant. */
export const factsAdminScope = "facts:admin";

/** The tenant is always the caller's. Throws `Forbidden`, which says nothing about whether the other user exists. */
export function factScope({ tenant, user, scopes = [] }: Caller, other: string | undefined): FactScope {
  if (other === undefined || other === user) return { tenant, user };
  if (!scopes.includes(factsAdminScope)) throw new Forbidden("the facts of another user are not yours");
  return { tenant, user: other };
}
