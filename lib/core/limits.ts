// What bounds a turn. Units are in the names; authors write `limits` of defineAgent, times as numbers of minutes.

export type Limits = {
  /** Model replies (or flow steps) in one turn. */
  roundsPerTurn: number;
  /** Wall-clock minutes of one turn, without the time people need to decide. */
  turnMinutes: number;
  /** The same tool with the same canonical input, in a row: told at this count, ended at twice of it. */
  sameCall: number;
  /** US dollars; 0 = no limit. Days are UTC. What a user or tenant spends with any agent of the runtime counts. */
  usdPerSession: number;
  usdPerUserDay: number;
  usdPerTenantDay: number;
  /** Input (cache reads and writes included) plus output tokens; 0 = no limit. */
  tokensPerSession: number;
  tokensPerTenantDay: number;
};

export const defaultLimits: Limits = {
  roundsPerTurn: 50,
  turnMinutes: 120,
  sameCall: 3,
  usdPerSession: 0,
  usdPerUserDay: 0,
  usdPerTenantDay: 0,
  tokensPerSession: 0,
  tokensPerTenantDay: 0,
};

/** Rounds after which a turn goes on in a new execution: far below the 25,000 history events of one. */
export const roundsPerSegment = 200;
/** History events after which it does too: a round of very many calls must still fit below 25,000. */
export const historyPerSegment = 15_000;
/** Tries of one model call before the turn fails: about four minutes of overload, hours of rate limits. */
export const maxModelAttempts = 10;
/** Replies in a row that may be cut by the output limit before the turn ends as `truncated`. */
export const maxTruncations = 3;
/** `pause_turn` replies in a row before the turn ends as `incomplete`. */
export const maxPauses = 10;
/** Recoveries in a row without a newly committed step before the session is suspended. */
export const maxRecoveries = 3;
/** Longest stay in the machine's Wait state; beyond it the segment ends with a due time. */
export const maxWaitSeconds = 60;
/** Longest time-out of a tool: a Lambda lives 15 minutes at most. */
export const maxToolTimeoutMs = 14 * 60_000;
/** Added to a tool's time-out to get its lease. */
export const leaseMarginMs = 10_000;
