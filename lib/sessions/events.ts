// The log of a session as it is read from outside: pages of events, checkpoints, one checkpoint.
import type { Checkpoint } from "../core/checkpoint.ts";
import { InvalidInput, NotFound } from "../core/errors.ts";
import type { SessionState } from "../core/state.ts";
import type { Deps } from "../steps/deps.ts";
import { type Cache, createCache } from "../store/cache.ts";
import type { Store } from "../store/index.ts";
import { type EventView, viewEvent } from "./event-view.ts";
import { advance, type Numbering, outsideTurns } from "./numbering.ts";
import { sessionHead } from "./session-head.ts";
import { type SessionView, viewSession } from "./session-view.ts";

/** `cursor` is the version to give back as `after`; absent at the end. */
export type Page<T> = { items: T[]; cursor?: string };
export type PageOptions = {
  after: number;
  limit: number;
  /** The page ends early when its data would be larger. @default 3 MB: an answer of a Lambda holds 6 */
  maxBytes?: number;
};

export type CheckpointRow = Omit<EventView, "data"> & { writer: string; hash: string; prevHash: string };
/** `snapshot` is the stored one: times in epoch milliseconds, as the core decides by them. */
export type CheckpointView = CheckpointRow & { data: EventView["data"]; session: SessionView; snapshot: SessionState };

const defaultPageBytes = 3 * 1024 * 1024;
const foldPageSize = 200;

/** Events after a version in order. Throws `NotFound` for an unknown id and for one of another tenant. */
export async function readEvents(
  deps: Pick<Deps, "store">,
  tenant: string,
  sessionId: string,
  options: PageOptions,
): Promise<Page<EventView>> {
  const { version } = await sessionHead(deps, tenant, sessionId);
  return page(version, await readViews(deps, tenant, sessionId, options));
}

/** The same without asking whether the session exists: for whoever follows a log. */
export async function readViews(
  deps: Pick<Deps, "store">,
  tenant: string,
  sessionId: string,
  { after, limit, maxBytes = defaultPageBytes }: PageOptions,
): Promise<EventView[]> {
  const views: EventView[] = [];
  let bytes = 0;
  for (const { view } of await numbered(deps, tenant, sessionId, { after, limit })) {
    bytes += JSON.stringify(view.data).length;
    if (views.length > 0 && bytes > maxBytes) break;
    views.push(view);
  }
  return views;
}

export async function readCheckpoints(
  deps: Pick<Deps, "store">,
  tenant: string,
  sessionId: string,
  options: PageOptions,
): Promise<Page<CheckpointRow>> {
  const { version } = await sessionHead(deps, tenant, sessionId);
  const found = await numbered(deps, tenant, sessionId, options);
  return page(
    version,
    found.map(({ view, checkpoint }) => row(view, checkpoint)),
  );
}

/** One version with its event and snapshot. Throws `NotFound`. */
export async function readCheckpoint(
  deps: Pick<Deps, "store">,
  tenant: string,
  sessionId: string,
  version: number,
): Promise<CheckpointView> {
  const head = await sessionHead(deps, tenant, sessionId);
  if (version < 1 || version > head.version)
    throw new NotFound(`no such version; the session has 1 to ${head.version}`);
  const [found] = await numbered(deps, tenant, sessionId, { after: version - 1, limit: 1 });
  if (!found) throw new NotFound(`no such version; the session has 1 to ${head.version}`);
  const { checkpoint, view } = found;
  return { ...row(view, checkpoint), data: view.data, session: viewSession(checkpoint), snapshot: checkpoint.state };
}

/** The version in a cursor that a page gave. Throws `InvalidInput`. */
export function versionCursor(cursor: string): number {
  if (/^\d{1,12}$/.test(cursor)) return Number(cursor);
  const message = "not a cursor that an earlier page gave";
  throw new InvalidInput(message, { errors: [{ path: "$.cursor", message }] });
}

function page<T extends { version: number }>(latest: number, items: T[]): Page<T> {
  const last = items.at(-1)?.version;
  return { items, ...(last !== undefined && last < latest ? { cursor: String(last) } : {}) };
}

function row({ data: _data, ...view }: EventView, { writer, hash, prevHash }: Checkpoint): CheckpointRow {
  return { ...view, writer, hash, prevHash };
}

async function numbered(
  deps: Pick<Deps, "store">,
  tenant: string,
  sessionId: string,
  { after, limit }: PageOptions,
): Promise<{ checkpoint: Checkpoint; view: EventView }[]> {
  const checkpoints = await deps.store.log.events(tenant, sessionId, after, limit);
  const [first] = checkpoints;
  if (!first) return [];
  let numbering = await numberingAt(deps, tenant, sessionId, first.version - 1);
  const found = checkpoints.map((checkpoint) => {
    const next = viewEvent(numbering, checkpoint);
    numbering = next.numbering;
    return { checkpoint, view: next.view };
  });
  remember(deps.store, tenant, sessionId, after + found.length, numbering);
  return found;
}

/** The numbering after `version`: from the last page that ended there, else folded from the start of its turn. */
async function numberingAt(
  deps: Pick<Deps, "store">,
  tenant: string,
  sessionId: string,
  version: number,
): Promise<Numbering> {
  if (version < 1) return outsideTurns();
  const known = numberingsOf(deps.store).get(`${tenant}#${sessionId}#${version}`);
  if (known) return known;
  const { log } = deps.store;
  const at = await log.at(tenant, sessionId, version);
  if (!at?.state.turn) return outsideTurns(at?.state.turns ?? 0);
  let numbering = outsideTurns(at.state.turns);
  for (let after = at.state.turn.startedVersion - 1; after < version; ) {
    const checkpoints = await log.events(tenant, sessionId, after, Math.min(foldPageSize, version - after));
    if (checkpoints.length === 0) break;
    for (const checkpoint of checkpoints) numbering = advance(numbering, checkpoint);
    after += checkpoints.length;
  }
  return numbering;
}

const numberings = new WeakMap<Store, Cache<Numbering>>();

function numberingsOf(store: Store): Cache<Numbering> {
  const known = numberings.get(store) ?? createCache<Numbering>(1024 * 1024);
  numberings.set(store, known);
  return known;
}

function remember(store: Store, tenant: string, sessionId: string, version: number, numbering: Numbering): void {
  numberingsOf(store).set(`${tenant}#${sessionId}#${version}`, numbering, 500);
}
