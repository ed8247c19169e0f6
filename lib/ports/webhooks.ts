// Answers pushed to a URL that a user gave. The caller keeps the journal and decides about another try; an
// implementation signs, guards where a request may go, and says what came of it.

export type Webhook = {
  tenant: string;
  url: string;
  /** The same on every attempt: how the receiver tells a repeat. */
  id: string;
  /** JSON text; the same bytes on every attempt. */
  body: string;
};

/** `final`: another try cannot change it. `reason` never holds the URL, the body or a secret. */
export type WebhookResult = { outcome: "accepted" } | { outcome: "failed"; reason: string; final: boolean };

export interface Webhooks {
  /** Throws `InvalidInput` for a URL that this runtime never sends to. What a name resolves to is only checked by `send`. */
  check(url: string): void;
  /** One attempt, bounded in time; follows no redirect. Never throws for what the other side does. */
  send(webhook: Webhook): Promise<WebhookResult>;
  /** What a tenant checks signatures with: `whsec_…`. Nobody else's. */
  secretOf(tenant: string): string;
}
