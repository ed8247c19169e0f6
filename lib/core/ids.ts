// Names and keys made of parts. Pure: the random part comes from the ids port.

/** Session id `yyyymmdd_hhmmss_xxxxxxxx`. `iso`: time of creation, ISO 8601 UTC; `suffix`: eight of [0-9a-f]. */
export function sessionId(iso: string, suffix: string): string {
  return `${iso.slice(0, 10).replaceAll("-", "")}_${iso.slice(11, 19).replaceAll(":", "")}_${suffix}`;
}

export const sessionIdPattern = /^\d{8}_\d{6}_[0-9a-f]{8}$/;

/** A tenant is a plain word, since every partition key starts with it. */
export const tenantPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * The key a tool sees and hands on: the same on every attempt of this call, different for any other.
 */
export function idempotencyKey(call: {
  tenant: string;
  sessionId: string;
  turn: number;
  round: number;
  index: number;
}): string {
  return `${call.tenant}.${call.sessionId}.${call.turn}.${call.round}.${call.index}`;
}

/**
 * Execution name, at most 80 characters of [0-9A-Za-z_-] (Step Functions, StartExecution). A second start
 * of the same turn and segment has the same name, so it is a no-op. `salt` sets a recovery apart.
 */
export function executionName(parts: { sessionHash: string; turn: number; segment: number; salt?: string }): string {
  const salt = parts.salt ? `-${parts.salt.replace(/[^0-9A-Za-z_-]/g, "_").slice(0, 24)}` : "";
  return `${parts.sessionHash.slice(0, 24)}-t${parts.turn}-s${parts.segment}${salt}`;
}
