// Bringing an exported session into a store: the same ids, versions and hashes. It never continues by itself: the
// original may still run elsewhere, and effects must not happen twice.

import { Forbidden, ImpossibleTransition, InvalidInput, VersionConflict } from "../../core/errors.ts";
import type { Event } from "../../core/event.ts";
import type { Deps } from "../../steps/deps.ts";
import { createWriter } from "../../steps/run.ts";
import type { Head } from "../../store/log.ts";
import { readLines } from "./read-lines.ts";

export type Imported = {
  sessionId: string;
  key: string;
  versions: number /** Versions that were written now. */;
  written: number;
  problems: { line: number; message: string }[];
};

/**
 * Takes what is whole of an export. Again is harmless: versions that stand already are compared, not written. Throws
 * `InvalidInput` for what is no export or damaged in the middle (with the line), `Forbidden` for another tenant's,
 * `ImpossibleTransition` when a different session has this id.
 */
export async function importSession(deps: Deps, tenant: string, text: string): Promise<Imported> {
  const reading = readLines(text);
  if (!reading) throw new InvalidInput("this is no export of a session: the first line is no header of format 1");
  const { header, checkpoints, problems, complete } = reading;
  if (header.tenant !== tenant) throw new Forbidden("the export belongs to another tenant");
  const damage = problems.filter(({ message }) => !message.includes("torn") && !message.startsWith("the file ends"));
  if (damage.length > 0) {
    const errors = damage.map(({ line, message }) => ({ path: `line ${line}`, message }));
    throw new InvalidInput(`the export is damaged at line ${damage[0]?.line}: ${damage[0]?.message}`, { errors });
  }
  if (checkpoints.length === 0) throw new InvalidInput("the export holds no whole version");
  const { log, statuses, pointers } = deps.store;
  const known = await log.head(tenant, header.sessionId);
  if (known) {
    const same = checkpoints[known.version - 1]?.hash === known.hash || (await holds(deps, tenant, checkpoints.at(-1)));
    if (!same) throw new ImpossibleTransition(`another session ${header.sessionId} is here already`);
  }
  let head = known;
  let written = 0;
  for (const line of checkpoints.slice(known?.version ?? 0)) {
    head = await log.restore(head, line);
    written++;
  }
  if (!head) throw new InvalidInput("the export holds no whole version");
  if (written > 0) head = await suspend(deps, head, complete);
  const { state } = head;
  await statuses.write(state, head.version, deps.clock.now());
  if (written > 0)
    await pointers.swap(tenant, state.key, null, { sessionId: state.sessionId, lastUserAt: state.lastUserAt });
  return { sessionId: header.sessionId, key: header.key, versions: head.version, written, problems };
}

async function holds(
  deps: Deps,
  tenant: string,
  last: { sessionId: string; version: number; hash: string } | undefined,
): Promise<boolean> {
  const found = last ? await deps.store.log.at(tenant, last.sessionId, last.version) : null;
  return found !== null && found.hash === last?.hash;
}

/** An open turn stays as it is, for `resume` to go on with: a person says so, who knows that the original stands still. */
async function suspend(deps: Deps, head: Head, complete: boolean): Promise<Head> {
  if (!head.state.turn || head.state.lifecycle.kind !== "open") return head;
  const cause = complete ? "imported in the middle of a turn" : "imported in part, in the middle of a turn";
  const event: Event = { type: "session.suspended", cause };
  try {
    return await deps.store.log.append(head, event, createWriter(`import/${deps.ids.uuid()}`));
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error;
    return (await deps.store.log.head(head.tenant, head.sessionId)) ?? head;
  }
}
