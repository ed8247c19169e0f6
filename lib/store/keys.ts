// Where things stand in the table. Every partition key starts with `<tenant>#`, so that a role limited by
// `dynamodb:LeadingKeys` can reach one tenant only. Parts that people choose are escaped.
import { InvalidInput } from "../core/errors.ts";
import { tenantPattern } from "../core/ids.ts";
import type { Key } from "../ports/table.ts";

const digits = 12;

function tenantPart(tenant: string): string {
  if (!tenantPattern.test(tenant)) throw new InvalidInput(`tenant ${JSON.stringify(tenant)} is not a plain word`);
  return tenant;
}

/** One segment of a key: no `#`, no control characters, never empty, reversible. */
export function escapePart(text: string): string {
  // Session ids and the like: made at every access, and nothing in them to escape.
  if (/^[\w.-]+$/.test(text)) return text;
  return text === ""
    ? "%"
    : encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

export function unescapePart(text: string): string {
  return text === "%" ? "" : decodeURIComponent(text);
}

export const sessionPk = (tenant: string, sessionId: string): string =>
  `${tenantPart(tenant)}#${escapePart(sessionId)}`;

/** Where a session's blobs stand: its own folder, so that erasing a session erases what only it refers to. */
export const sessionBlobs = (tenant: string, sessionId: string): string =>
  `${tenantPart(tenant)}/${escapePart(sessionId)}`;

export const versionPrefix = "V#";
export function versionSk(version: number): string {
  return `${versionPrefix}${String(version).padStart(digits, "0")}`;
}
export const versionOf = (sk: string): number => Number(sk.slice(versionPrefix.length));

export const statusSk = "STATUS";
export const approvalPrefix = "A#";
export const inboxPrefix = "I#";
export function inboxSk(seq: number): string {
  return `${inboxPrefix}${String(seq).padStart(digits, "0")}`;
}

/** Turns from which long-term memory has still to learn. */
export const memoryPrefix = "M#";
export const memorySk = (turn: number): string => `${memoryPrefix}${String(turn).padStart(digits, "0")}`;

export const deliveryPrefix = "D#";
export const deliverySk = (turn: number): string => `${deliveryPrefix}${String(turn).padStart(digits, "0")}`;

export const pointerKey = (tenant: string, key: string): Key => ({
  pk: `${tenantPart(tenant)}#key:${escapePart(key)}`,
  sk: "POINTER",
});
/** Unlike the pointer it never expires: the last session of this key, for lineage and the true reason of a reset. */
export const lastKey = (tenant: string, key: string): Key => ({ ...pointerKey(tenant, key), sk: "LAST" });
export const onceKey = (tenant: string, id: string): Key => ({
  pk: `${tenantPart(tenant)}#once:${escapePart(id)}`,
  sk: "ONCE",
});
/** The mark that stops all work of a tenant. */
export const stopKey = (tenant: string): Key => ({ pk: `${tenantPart(tenant)}#stop`, sk: "STOP" });
export const factsPk = (tenant: string, user: string): string => `${tenantPart(tenant)}#user:${escapePart(user)}`;
export const factPrefix = "F#";
export const factKey = (tenant: string, user: string, id: string): Key => ({
  pk: factsPk(tenant, user),
  sk: `${factPrefix}${escapePart(id)}`,
});
/** That a fact was deleted, without anything of it. */
export const forgottenKey = (tenant: string, user: string, id: string): Key => ({
  pk: factsPk(tenant, user),
  sk: `X#${escapePart(id)}`,
});
export const budgetKey = (tenant: string, scope: string): Key => ({
  pk: `${tenantPart(tenant)}#budget:${escapePart(scope)}`,
  sk: "BUDGET",
});
/** What a tenant's sessions used on a UTC day (YYYY-MM-DD), one item a session. */
export const usagePk = (tenant: string, day: string): string => `${tenantPart(tenant)}#usage:${escapePart(day)}`;
export const usagePrefix = "S#";
export const usageKey = (tenant: string, day: string, sessionId: string): Key => ({
  pk: usagePk(tenant, day),
  sk: `${usagePrefix}${escapePart(sessionId)}`,
});
/** Until when a tenant must not ask a model. */
export const limiterKey = (tenant: string, model: string): Key => ({
  pk: `${tenantPart(tenant)}#limiter:${escapePart(model)}`,
  sk: "LIMITER",
});
export const tasksPk = (tenant: string): string => `${tenantPart(tenant)}#tasks`;
export const taskPrefix = "T#";
export const taskKey = (tenant: string, name: string): Key => ({
  pk: tasksPk(tenant),
  sk: `${taskPrefix}${escapePart(name)}`,
});
export const slotPrefix = "S#";
export const slotsPk = (tenant: string, task: string): string => `${tenantPart(tenant)}#task:${escapePart(task)}`;
/** Tries of one kind in one window of time; `what` is a hash. */
export const attemptsKey = (tenant: string, what: string, window: number): Key => ({
  pk: `${tenantPart(tenant)}#attempts:${what}`,
  sk: `W#${String(window).padStart(digits, "0")}`,
});
