// What users do with their facts: look, correct, delete. And a fact as it is shown outside.
import { NotFound, VersionConflict } from "../core/errors.ts";
import { type Fact, factIdPattern } from "../core/memory.ts";
import { iso } from "../sessions/outside-units.ts";
import type { Deps } from "../steps/deps.ts";
import type { FactScope } from "../store/facts.ts";

export type FactView = Omit<
  Fact,
  "validFrom" | "validTo" | "storedAt" | "closedAt" | "correctedAt" | "revision" | "vector"
> & {
  /** ISO 8601 UTC. */
  validFrom: string;
  validTo?: string;
  correctedAt?: string;
};

type FactDeps = Pick<Deps, "store">;

/** Newest first; `all`: also those that have ended. */
export async function listFacts(deps: FactDeps, scope: FactScope, options: { all: boolean }): Promise<FactView[]> {
  const facts = await deps.store.facts.list(scope);
  return facts
    .filter(({ validTo }) => options.all || validTo === undefined)
    .toSorted((a, b) => b.validFrom - a.validFrom || (a.id < b.id ? -1 : 1))
    .map(viewFact);
}

/** Throws `NotFound`, `VersionConflict` when another correction came between. */
export async function correctFact(deps: FactDeps, scope: FactScope, id: string, text: string): Promise<FactView> {
  await known(deps, scope, id);
  const corrected = await deps.store.facts.correct(scope, id, text);
  if (!corrected) throw new VersionConflict("the fact was changed by another request; look at it and try again");
  return viewFact(corrected);
}

/** For good. Throws `NotFound`. */
export async function deleteFact(deps: FactDeps, scope: FactScope, id: string): Promise<void> {
  await known(deps, scope, id);
  await deps.store.facts.remove(scope, id);
}

async function known({ store }: FactDeps, scope: FactScope, id: string): Promise<void> {
  const found = factIdPattern.test(id) ? await store.facts.get(scope, id) : null;
  if (!found) throw new NotFound("no such fact");
}

function viewFact({
  storedAt: _s,
  closedAt: _c,
  revision: _r,
  vector: _v,
  validFrom,
  validTo,
  correctedAt,
  ...fact
}: Fact): FactView {
  return {
    ...fact,
    validFrom: iso(validFrom),
    ...(validTo === undefined ? {} : { validTo: iso(validTo) }),
    ...(correctedAt === undefined ? {} : { correctedAt: iso(correctedAt) }),
  };
}
