// The name of an approval: where its call stands and which asking it is. Made of the call's place alone, so it
// is the same after a crash and a mailed link finds its record without a look-up.
import { sessionIdPattern, tenantPattern } from "../ids.ts";

export type ApprovalPlace = {
  tenant: string;
  sessionId: string;
  turn: number;
  round: number;
  index: number;
  /** 0 for the first asking about this call, 1 when people had to be asked again, … */
  nth: number;
};

const separator = "~";

/** Safe in a URL without escaping: `~` is in no tenant and no session id. */
export function approvalId(place: ApprovalPlace): string {
  const { tenant, sessionId, turn, round, index, nth } = place;
  return [tenant, sessionId, turn, round, index, nth].join(separator);
}

/** The place that an id names; null for anything that `approvalId` does not make. */
export function parseApprovalId(id: string): ApprovalPlace | null {
  const [tenant = "", sessionId = "", ...numbers] = id.split(separator);
  if (!tenantPattern.test(tenant) || !sessionIdPattern.test(sessionId) || numbers.length !== 4) return null;
  if (!numbers.every((number) => /^(?:0|[1-9]\d{0,8})$/.test(number))) return null;
  const [turn = 0, round = 0, index = 0, nth = 0] = numbers.map(Number);
  return { tenant, sessionId, turn, round, index, nth };
}

/** The number of the next asking about a call that `last` was the latest asking about. */
export function nextNth(last: string | undefined): number {
  return last === undefined ? 0 : (parseApprovalId(last)?.nth ?? -1) + 1;
}

/** Whether `id` names `current`, or a later asking about the same call that the log does not know yet. */
export function isCurrentAsking(id: string, current: string | undefined): boolean {
  return id === current || (parseApprovalId(id)?.nth ?? -1) >= nextNth(current);
}
