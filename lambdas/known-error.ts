// Bundles that are loaded later have their own copies of the error classes; by name they are ours.
import { BatonError, errorTable } from "../lib/core/errors.ts";

/** The same error as this bundle knows it; anything else as it is. */
export function knownError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof BatonError) return error;
  const kind = errorTable.get(error.name);
  if (!kind) return error;
  const { retryAfterMs, uncharged } = error as { retryAfterMs?: number; uncharged?: boolean };
  const details = { cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  return Object.assign(new BatonError(kind, error.message, details), uncharged ? { uncharged } : {});
}
