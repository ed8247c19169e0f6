// Where an answer goes besides the log: as users write it, and as it stands in the log.
import * as z from "zod";
import { InvalidInput } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import type { Webhooks } from "../ports/webhooks.ts";

/** Bytes of a URL; longer ones are refused by many servers. */
const maxUrlBytes = 2000;

export const deliverTo = z.union([
  z.strictObject({ webhook: z.string().min(1).max(maxUrlBytes) }),
  z.strictObject({ mail: z.email().max(254) }),
]);
export type DeliverTo = z.output<typeof deliverTo>;

/** Refuses what could never be sent, when it is given. Throws `InvalidInput`. */
export function checkDeliverTo(target: DeliverTo, webhooks: Webhooks): void {
  if (!("webhook" in target)) return;
  try {
    webhooks.check(target.webhook);
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const message = error.errors?.[0]?.message ?? error.message;
    throw new InvalidInput(`deliverTo.webhook: ${message}`, {
      errors: [{ path: "$.deliverTo.webhook", message }],
    });
  }
}

/** The target as it stands in the log; null for what this release does not know. */
export function readDeliverTo(stored: Json | undefined): DeliverTo | null {
  const parsed = deliverTo.safeParse(stored);
  return parsed.success ? parsed.data : null;
}
