// A checkpoint as an item: the snapshot as text, the event as a payload, the hash chain. Reading checks everything.
import type { Checkpoint } from "../core/checkpoint.ts";
import { ItemTooLarge, UnreadableRecord } from "../core/errors.ts";
import type { Event } from "../core/event.ts";
import type { SessionState } from "../core/state.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Item } from "../ports/table.ts";
import { canonical, decode, encode, itemBytes, sha256 } from "./encoding.ts";
import { currentFormat, upcast } from "./formats.ts";
import { sessionBlobs, sessionPk, versionOf, versionSk } from "./keys.ts";
import type { Head } from "./log.ts";

/** DynamoDB, "Quotas". */
const maxItemBytes = 400 * 1024;

/** `eventText`: the canonical JSON of the event. A large event is in the blob store when this answers. */
export async function checkpointItem(checkpoint: Checkpoint, eventText: string, blobs: Blobs): Promise<Item> {
  const { tenant, sessionId, version, at, writer, event, state, hash, prevHash } = checkpoint;
  const item: Item = {
    pk: sessionPk(tenant, sessionId),
    sk: versionSk(version),
    format: currentFormat,
    at,
    writer,
    type: event.type,
    hash,
    prevHash,
    // Plain JSON: nothing hashes or compares a snapshot, and an event is canonical because it is hashed.
    state: JSON.stringify(stored(state)),
    ...(await encode("event", eventText, sessionBlobs(tenant, sessionId), blobs)),
  };
  const bytes = itemBytes(item);
  if (bytes > maxItemBytes) {
    throw new ItemTooLarge(`version ${version} would take ${bytes} bytes; an item holds at most ${maxItemBytes}`);
  }
  return item;
}

/** The hash of an event in its chain. */
export function chainHash(prevHash: string, version: number, at: number, eventText: string): string {
  return sha256(`${prevHash}\n${version}\n${at}\n${eventText}`);
}

/** Tenant and session id stand in the key already. */
function stored(state: SessionState): Omit<SessionState, "tenant" | "sessionId"> {
  const { tenant: _tenant, sessionId: _sessionId, ...rest } = state;
  return rest;
}

/** The checkpoint without its event, which is not decoded. */
export function readHead(raw: Item, tenant: string, sessionId: string): Head {
  const where = `${sessionId}/${raw.sk}`;
  const item = upcast(raw, where);
  if (typeof item.state !== "string" || typeof item.hash !== "string" || typeof item.at !== "number") {
    throw new UnreadableRecord(`${where}: state, hash or time is missing`);
  }
  let state: SessionState;
  try {
    state = { ...JSON.parse(item.state), tenant, sessionId };
  } catch (cause) {
    throw new UnreadableRecord(`${where}.state: not JSON`, { cause });
  }
  return {
    tenant,
    sessionId,
    version: versionOf(item.sk),
    at: item.at,
    writer: String(item.writer),
    state,
    hash: item.hash,
    prevHash: String(item.prevHash),
  };
}

export async function readCheckpoint(item: Item, tenant: string, sessionId: string, blobs: Blobs): Promise<Checkpoint> {
  const head = readHead(item, tenant, sessionId);
  const where = `${sessionId}/${item.sk}`;
  const event = (await decode(item, "event", sessionBlobs(tenant, sessionId), blobs, where)) as Event;
  if (chainHash(head.prevHash, head.version, head.at, canonical(event)) !== head.hash) {
    throw new UnreadableRecord(`${where}.event: its hash does not match`);
  }
  return { ...head, event };
}
