// The log is the lock. A session is V#1, V#2, … in one partition; version n+1 is committed by one
// conditional put. Two writers that stand on version n cannot both win. Checkpoints are immutable, so they
// may be cached; "which is the latest" is always asked strongly.
import { apply } from "../core/apply.ts";
import type { Checkpoint } from "../core/checkpoint.ts";
import { isDisposition, UnreadableRecord, VersionConflict } from "../core/errors.ts";
import type { Event } from "../core/event.ts";
import type { SessionState } from "../core/state.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Clock } from "../ports/clock.ts";
import type { Item, Table } from "../ports/table.ts";
import { createCache } from "./cache.ts";
import { chainHash, checkpointItem, readCheckpoint, readHead } from "./checkpoint-item.ts";
import { canonical, itemBytes } from "./encoding.ts";
import { sessionPk, versionOf, versionPrefix, versionSk } from "./keys.ts";

/** A checkpoint without its event: enough to decide and to append, and readable even when a blob is damaged. */
export type Head = Omit<Checkpoint, "event">;

/** Names a writer for one append after another: execution + step + attempt, and a counter. */
export type Writer = { next(): string };

/** A version as an export holds it. */
export type Exported = Pick<Checkpoint, "version" | "at" | "writer" | "hash" | "event">;

export interface Log {
  /** The latest version, by a strong read of one item; null when the session does not exist. */
  head(tenant: string, sessionId: string): Promise<Head | null>;
  /** One version; null when it does not exist. */
  at(tenant: string, sessionId: string, version: number): Promise<Checkpoint | null>;
  /**
   * Commits `event` as the version after `base` (null: the first). Throws `VersionConflict` when another
   * writer was first; a lost answer of the own write is recognised by reading back. Nothing is written on a throw
   * of `ImpossibleTransition`.
   */
  append(base: Head | null, event: Event, writer: Writer): Promise<Head>;
  /** Versions after `after` in order, at most `limit`. */
  events(tenant: string, sessionId: string, after: number, limit?: number): Promise<Checkpoint[]>;
  /**
   * Backwards from `version`, as the session sees its past: a rollback jumps to its target, a fork goes on in
   * its parent's log. Read page by page as it is consumed.
   */
  lineage(tenant: string, sessionId: string, version: number): AsyncIterable<Checkpoint>;
  /**
   * Writes an exported version as it was, after `base`. Again is harmless. Throws `UnreadableRecord` when it does not follow
   * `base`, `VersionConflict` when another version stands there.
   */
  restore(base: Head | null, exported: Exported): Promise<Head>;
  /** Drops what this process has cached of an erased session. */
  forget(tenant: string, sessionId: string): void;
}

export type LogOptions = {
  table: Table;
  blobs: Blobs;
  clock: Clock;
  /** Called after each commit of this process. */
  onCommit?: (head: Head, event: Event) => void;
  /** Bytes of decoded checkpoints kept. @default 32 MiB */
  cacheBytes?: number;
};

/** Items of the first page of a walk backwards; each later one is four times as large, up to the largest. */
const firstPageSize = 2;
const largestPageSize = 32;
/** Bytes of heads kept as they were read: a step needs the event of the head that it has just asked for. */
const readHeadBytes = 1024 * 1024;
const maxPutAttempts = 5;

export function createLog(options: LogOptions): Log {
  const { table, blobs, clock } = options;
  const cacheBytes = options.cacheBytes ?? 32 * 1024 * 1024;
  const cache = createCache<Checkpoint>(cacheBytes);
  const readHeads = createCache<Item>(Math.min(cacheBytes, readHeadBytes));

  async function head(tenant: string, sessionId: string): Promise<Head | null> {
    const pk = sessionPk(tenant, sessionId);
    const [item] = await table.query({ pk, prefix: versionPrefix, reverse: true, limit: 1 });
    if (!item) return null;
    const name = cacheKey(pk, versionOf(item.sk));
    const known = cache.get(name);
    if (known && known.hash === item.hash) return known;
    readHeads.set(name, item, itemBytes(item));
    return readHead(item, tenant, sessionId);
  }

  async function at(tenant: string, sessionId: string, version: number): Promise<Checkpoint | null> {
    const pk = sessionPk(tenant, sessionId);
    const name = cacheKey(pk, version);
    const known = cache.get(name);
    if (known) return known;
    const item = readHeads.get(name) ?? (await table.get({ pk, sk: versionSk(version) }));
    return item ? readAndCache(item, tenant, sessionId) : null;
  }

  async function append(base: Head | null, event: Event, writer: Writer): Promise<Head> {
    const next = await prepare(base, event, writer.next());
    const { checkpoint, item } = next;
    for (let attempt = 1; ; attempt++) {
      const outcome = await putOrReadBack(item, attempt);
      if (outcome === "retry") continue;
      if (outcome === "other") {
        throw new VersionConflict(
          `version ${checkpoint.version} of session ${checkpoint.sessionId} was written by another`,
        );
      }
      cache.set(cacheKey(item.pk, checkpoint.version), checkpoint, itemBytes(item) * 3);
      options.onCommit?.(checkpoint, event);
      return checkpoint;
    }
  }

  async function putOrReadBack(item: Item, attempt: number): Promise<"own" | "other" | "retry"> {
    try {
      if ((await table.put(item, { absent: true })) === "ok") return "own";
    } catch (error) {
      if (!isDisposition(error, "Transient")) throw error;
      // The answer is lost, which says nothing about the write: look.
      const found = await tryGet(item, error, attempt);
      if (!found) {
        await clock.sleep(20 * 2 ** attempt);
        return "retry";
      }
      return found.writer === item.writer ? "own" : "other";
    }
    const found = await table.get({ pk: item.pk, sk: item.sk });
    return found?.writer === item.writer ? "own" : "other";
  }

  async function tryGet(item: Item, error: unknown, attempt: number): Promise<Item | null> {
    if (attempt >= maxPutAttempts) throw error;
    try {
      return await table.get({ pk: item.pk, sk: item.sk });
    } catch (second) {
      if (!isDisposition(second, "Transient")) throw second;
      return null;
    }
  }

  async function restore(base: Head | null, exported: Exported): Promise<Head> {
    const { checkpoint, item } = await prepare(base, exported.event, exported.writer, exported.at);
    if (checkpoint.version !== exported.version || checkpoint.hash !== exported.hash) {
      throw new UnreadableRecord(`version ${exported.version} does not follow version ${base?.version ?? 0}`);
    }
    if ((await table.put(item, { absent: true })) === "ok") return checkpoint;
    const found = await table.get({ pk: item.pk, sk: item.sk });
    if (found?.hash === exported.hash) return checkpoint;
    throw new VersionConflict(`another version ${exported.version} of session ${checkpoint.sessionId} is here`);
  }

  async function prepare(
    base: Head | null,
    event: Event,
    writer: string,
    at = clock.now(),
  ): Promise<{ checkpoint: Checkpoint; item: Item }> {
    const version = (base?.version ?? 0) + 1;
    const target = event.type === "rolled.back" && base ? await stateAt(base, event.to) : undefined;
    const state = apply(base?.state ?? null, event, { version, at }, target);
    const { tenant, sessionId } = state;
    const text = canonical(event);
    const prevHash = base?.hash ?? "";
    const hash = chainHash(prevHash, version, at, text);
    const checkpoint: Checkpoint = { tenant, sessionId, version, at, writer, event, state, hash, prevHash };
    return { checkpoint, item: await checkpointItem(checkpoint, text, blobs) };
  }

  async function stateAt(base: Head, version: number): Promise<SessionState> {
    const found = await at(base.tenant, base.sessionId, version);
    if (!found) throw new UnreadableRecord(`version ${version} of session ${base.sessionId} is missing`);
    return found.state;
  }

  async function events(tenant: string, sessionId: string, after: number, limit?: number): Promise<Checkpoint[]> {
    const pk = sessionPk(tenant, sessionId);
    const items = await table.query({
      pk,
      prefix: versionPrefix,
      after: versionSk(after),
      ...(limit === undefined ? {} : { limit }),
    });
    return Promise.all(
      items.map((item) => cache.get(cacheKey(pk, versionOf(item.sk))) ?? readAndCache(item, tenant, sessionId)),
    );
  }

  async function* lineage(tenant: string, sessionId: string, version: number): AsyncIterable<Checkpoint> {
    let [id, next] = [sessionId, version];
    let page = new Map<number, Item>();
    let pageSize = firstPageSize;
    while (next > 0) {
      const pk = sessionPk(tenant, id);
      const name = cacheKey(pk, next);
      let checkpoint = cache.get(name);
      if (!checkpoint) {
        const read = readHeads.get(name);
        if (!read && !page.has(next)) {
          const after = versionSk(next + 1);
          const items = await table.query({ pk, prefix: versionPrefix, after, reverse: true, limit: pageSize });
          page = new Map(items.map((item) => [versionOf(item.sk), item]));
          pageSize = Math.min(pageSize * 4, largestPageSize);
        }
        const item = read ?? page.get(next);
        // The session that this one was forked from has been erased: its past ends here.
        if (!item && id !== sessionId && page.size === 0) return;
        if (!item) throw new UnreadableRecord(`version ${next} of session ${id} is missing`);
        checkpoint = await readAndCache(item, tenant, id);
      }
      yield checkpoint;
      const { event } = checkpoint;
      if (event.type === "session.created" && event.fork && event.parent) {
        [id, next] = [event.parent.sessionId, event.parent.version];
        page = new Map();
      } else next = event.type === "rolled.back" ? event.to : next - 1;
    }
  }

  async function readAndCache(item: Item, tenant: string, sessionId: string): Promise<Checkpoint> {
    const checkpoint = await readCheckpoint(item, tenant, sessionId, blobs);
    cache.set(cacheKey(item.pk, checkpoint.version), checkpoint, itemBytes(item) * 3);
    return checkpoint;
  }

  function forget(tenant: string, sessionId: string): void {
    const prefix = cacheKey(sessionPk(tenant, sessionId), 0).slice(0, -1);
    cache.forget(prefix);
    readHeads.forget(prefix);
  }

  return { head, at, append, restore, events, lineage, forget };
}

const cacheKey = (pk: string, version: number): string => `${pk}|${version}`;
