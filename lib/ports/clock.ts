// Time, chance and output come through ports, so that steps are repeatable and tests own the clock.

export interface Clock {
  /** Epoch milliseconds. May step back; order never depends on it. */
  now(): number;
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Ids {
  /** Eight characters of [0-9a-f]. */
  suffix(): string;
  /** A new identifier, unique in practice (UUID). */
  uuid(): string;
  /** 256 random bits, base64url: 43 characters. For secrets. */
  secret(): string;
}

/** Structured log lines. Never give it message content, tokens or secrets (G20); ids and numbers only. */
export interface Log {
  info(message: string, fields?: Record<string, string | number | boolean | undefined>): void;
  warn(message: string, fields?: Record<string, string | number | boolean | undefined>): void;
  error(message: string, fields?: Record<string, string | number | boolean | undefined>): void;
}
