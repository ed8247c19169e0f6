// Which versions one can go back to: those that exist and stand outside of a call. Inside of one the model has asked
// for something whose outcome would be missing.
import type { Checkpoint } from "../../core/checkpoint.ts";
import { ImpossibleTransition, InvalidInput } from "../../core/errors.ts";
import type { SessionState } from "../../core/state.ts";
import type { Deps } from "../../steps/deps.ts";
import type { Head } from "../../store/log.ts";

/** How far a whole version near a refused one is looked for. */
const maxLook = 200;

/** The checkpoint at `version`. Throws `InvalidInput` when there is none, `ImpossibleTransition` when it is not whole. */
export async function wholeVersion(deps: Pick<Deps, "store">, head: Head, version: number): Promise<Checkpoint> {
  if (!Number.isSafeInteger(version) || version < 1 || version > head.version) {
    const message = `the session has versions 1 to ${head.version}`;
    throw new InvalidInput(`version ${version} does not exist: ${message}`, { errors: [{ path: "version", message }] });
  }
  const found = await deps.store.log.at(head.tenant, head.sessionId, version);
  if (!found) throw new InvalidInput(`version ${version} does not exist`);
  if (isWhole(found.state)) return found;
  const near = await Promise.all([nearestWhole(deps, head, version, -1), nearestWhole(deps, head, version, 1)]);
  const others = near.filter((other) => other !== null).join(" and ");
  const hint = others === "" ? "" : `; whole versions near it: ${others}`;
  throw new ImpossibleTransition(`version ${version} stands inside an open call${hint}`);
}

/** The next whole version from `version` on, itself included; null when none is near. */
export async function nearestWhole(
  deps: Pick<Deps, "store">,
  head: Head,
  version: number,
  direction: 1 | -1,
): Promise<number | null> {
  for (let looked = 0, at = version; looked < maxLook && at >= 1 && at <= head.version; looked++, at += direction) {
    const found = await deps.store.log.at(head.tenant, head.sessionId, at);
    if (found && isWhole(found.state)) return at;
  }
  return null;
}

export function isWhole({ turn }: SessionState): boolean {
  return !turn?.calls.some((call) => call.status !== "finished");
}
