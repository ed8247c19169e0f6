// One attempt to deliver a turn's answer. The only path: after the turn's execution ended, and by the sweeper for
// whatever that missed. An attempt is claimed before it is made, so a crash anywhere leaves one that is due again;
// repeats carry the same id and the same bytes (G16).
import { isDisposition, toErrorRecord } from "../core/errors.ts";
import type { WebhookResult } from "../ports/webhooks.ts";
import type { Deps } from "../steps/deps.ts";
import { type Answer, answerOfTurn, deliveryId, webhookBody } from "./answer.ts";
import { answerMail } from "./answer-mail.ts";
import { type DeliverTo, readDeliverTo } from "./deliver-to.ts";

export type Delivered =
  | "sent"
  /** Failed; another attempt is due later. */
  | "retry"
  /** Given up. */
  | "failed"
  /** The turn has not ended. */
  | "unfinished"
  /** Somebody else is at it, or it is not due. */
  | "taken"
  /** Settled already, or nothing to deliver. */
  | "gone";

const minute = 60_000;
/** Waits after each failed attempt; with the last attempt after them it is given up, two days after the answer. */
export const retryAfterMs = [1, 2, 10, 30, 60, 180, 360, 720, 1440].map((minutes) => minutes * minute);
/** While the turn runs. */
const lookAgainMs = 5 * minute;

/** Sends the answer of a turn if it is due. Never throws for what a receiver does. */
export async function deliverAnswer(
  deps: Deps,
  at: { tenant: string; sessionId: string; turn: number },
): Promise<Delivered> {
  const { tenant, sessionId, turn } = at;
  const { deliveries } = deps.store;
  const now = deps.clock.now();
  const delivery = await deliveries.get(tenant, sessionId, turn);
  if (delivery?.status !== "open") return "gone";
  // Before the first attempt `due` is only when the sweeper looks.
  if (delivery.attempts > 0 && (delivery.due ?? 0) > now) return "taken";
  const answer = await answerOfTurn(deps, at);
  if (answer === "unfinished") {
    if ((delivery.due ?? 0) <= now) await deliveries.lookAgain(tenant, sessionId, turn, now + lookAgainMs);
    return "unfinished";
  }
  if (answer === "void") {
    await deliveries.remove(tenant, sessionId, turn);
    return "gone";
  }
  const wait = retryAfterMs[delivery.attempts] ?? minute;
  const claimed = await deliveries.claim(tenant, sessionId, delivery, now + wait);
  if (claimed === "refused") return "taken";
  const target = readDeliverTo(answer.deliverTo);
  const result: WebhookResult = target
    ? await attempt(deps, answer, target)
    : { outcome: "failed", reason: "this release does not know where to", final: true };
  const last = claimed.attempts > retryAfterMs.length;
  return settle(deps, at, result, last);
}

async function settle(
  deps: Deps,
  { tenant, sessionId, turn }: { tenant: string; sessionId: string; turn: number },
  result: WebhookResult,
  last: boolean,
): Promise<Delivered> {
  const at = deps.clock.now();
  const { deliveries } = deps.store;
  if (result.outcome === "accepted") {
    await deliveries.mark(tenant, sessionId, turn, { status: "sent", at });
    return "sent";
  }
  const { reason } = result;
  const over = result.final || last;
  await deliveries.mark(tenant, sessionId, turn, { status: over ? "failed" : "open", reason, at });
  const fields = { tenant, sessionId, turn, reason };
  if (over) deps.log.error("an answer could not be delivered", fields);
  else deps.log.warn("an answer was not delivered yet", fields);
  return over ? "failed" : "retry";
}

async function attempt(deps: Deps, answer: Answer, target: DeliverTo): Promise<WebhookResult> {
  if ("webhook" in target) {
    const { tenant } = answer;
    return deps.webhooks.send({ tenant, url: target.webhook, id: deliveryId(answer), body: webhookBody(answer) });
  }
  try {
    await deps.mailer.send(answerMail(answer, target.mail, mailDomain(deps)));
    return { outcome: "accepted" };
  } catch (error) {
    // The code only: what a mail server says may quote the address.
    return { outcome: "failed", reason: toErrorRecord(error).code, final: !isDisposition(error, "Transient") };
  }
}

/** Right side of the Message-ID. A runtime without an API has no name of its own. */
function mailDomain(deps: Pick<Deps, "publicUrl">): string {
  try {
    return new URL(deps.publicUrl()).hostname.replace(/[[\]]/g, "");
  } catch {
    return "baton.invalid";
  }
}
