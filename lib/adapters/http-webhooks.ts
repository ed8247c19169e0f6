// Webhooks over HTTP, signed as Standard Webhooks says (https://www.standardwebhooks.com): `webhook-id`,
// `webhook-timestamp` (epoch seconds) and `webhook-signature: v1,<base64 HMAC-SHA-256 of "id.timestamp.body">`.
// A user names the URL, so each address that a name resolves to is checked, and the checked one is used.
import { createHmac } from "node:crypto";
import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { InvalidInput } from "../core/errors.ts";
import type { Webhook, WebhookResult, Webhooks } from "../ports/webhooks.ts";
import { isLoopback, isPublic } from "./http-webhooks-address.ts";

export type HttpWebhooksOptions = {
  /** The key of a tenant; the same on every process of a deployment. */
  keyOf: (tenant: string) => Uint8Array;
  now: () => number;
  /** May http and https go to this machine? For the embedded runtime only. @default false */
  loopback?: boolean;
  /** Longest wait for the receiver's answer, in milliseconds. @default 10000 */
  timeoutMs?: number;
  /** Resolves a name to all of its addresses. @default the system's resolver */
  resolve?: (host: string) => Promise<LookupAddress[]>;
  /** Certificate authority of receivers, for tests. @default those of Node */
  ca?: string;
};

const userAgent = "Baton-Webhooks/1";
const secretPrefix = "whsec_";

export function createHttpWebhooks(options: HttpWebhooksOptions): Webhooks {
  const { loopback = false, timeoutMs = 10_000, resolve = resolveAll } = options;
  const allowed = (address: string) => isPublic(address) || (loopback && isLoopback(address));

  /** Node connects to what this answers: no second look-up in between that could answer otherwise. */
  const guarded: LookupFunction = (host, wanted, callback) => {
    resolve(host).then(
      (addresses) => {
        const bad = addresses.length === 0 || addresses.some(({ address }) => !allowed(address));
        const [first] = addresses;
        if (bad || !first) callback(new BlockedAddress(), "", 4);
        else if (wanted.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, "", 4),
    );
  };

  function check(text: string): URL {
    const wrong = (message: string) =>
      new InvalidInput(`webhook: ${message}`, { errors: [{ path: "$.webhook", message }] });
    const url = URL.canParse(text) ? new URL(text) : null;
    if (!url?.hostname) throw wrong("not a URL");
    if (url.username || url.password) throw wrong("a URL with a password is refused; requests are signed instead");
    const host = hostOf(url);
    const local = loopback && (host === "localhost" || isLoopback(host));
    if (url.protocol !== "https:" && !(url.protocol === "http:" && local)) throw wrong("must be https");
    if (isIP(host) && !allowed(host)) throw wrong("must be a public address");
    return url;
  }

  return {
    check: (url) => void check(url),
    secretOf: (tenant) => `${secretPrefix}${Buffer.from(options.keyOf(tenant)).toString("base64")}`,
    async send(webhook) {
      try {
        return await post(check(webhook.url), webhook);
      } catch (error) {
        if (error instanceof InvalidInput || error instanceof BlockedAddress)
          return { outcome: "failed", reason: "the address is not one that may be sent to", final: true };
        return { outcome: "failed", reason: reasonOf(error), final: false };
      }
    },
  };

  function post(url: URL, webhook: Webhook): Promise<WebhookResult> {
    const seconds = String(Math.floor(options.now() / 1000));
    const { tenant, id, body } = webhook;
    const settings: RequestOptions & { ca?: string } = {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "Content-Length": String(Buffer.byteLength(body)),
        "User-Agent": userAgent,
        "Idempotency-Key": id,
        "Webhook-Id": id,
        "Webhook-Timestamp": seconds,
        "Webhook-Signature": signature(options.keyOf(tenant), id, seconds, body),
      },
      // A connection that is not shared: the next request has its own look-up.
      agent: false,
      lookup: guarded,
      signal: AbortSignal.timeout(timeoutMs),
      ...(options.ca ? { ca: options.ca } : {}),
    };
    return new Promise((resolve, reject) => {
      const send = url.protocol === "https:" ? httpsRequest : httpRequest;
      const request = send(url, settings, (response) => {
        // What the receiver says beyond its status is nobody's business.
        response.destroy();
        resolve(resultOf(response.statusCode ?? 0));
      });
      request.on("error", reject);
      request.end(body);
    });
  }
}

/** `v1,` and the base64 of the HMAC, as a receiver computes it. */
export function signature(key: Uint8Array, id: string, seconds: string, body: string): string {
  return `v1,${createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`;
}

/** 410 says that nobody wants it any more (Standard Webhooks); anything else may be mended on the other side. */
function resultOf(status: number): WebhookResult {
  if (status >= 200 && status < 300) return { outcome: "accepted" };
  return { outcome: "failed", reason: `the receiver answered ${status}`, final: status === 410 };
}

function reasonOf(error: unknown): string {
  const { name, code } = error instanceof Error ? (error as NodeJS.ErrnoException) : { name: "Error", code: undefined };
  if (name === "TimeoutError" || name === "AbortError") return "the receiver did not answer in time";
  return `no connection to the receiver (${code ?? name})`;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

function resolveAll(host: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(host, { all: true, verbatim: true }, (error, found) => (error ? reject(error) : resolve(found)));
  });
}

class BlockedAddress extends Error {
  constructor() {
    super("the name resolves to an address that is not public");
    this.name = "BlockedAddress";
  }
}
