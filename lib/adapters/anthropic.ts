// The Model port over the Messages API. Always streaming, never retrying: the steps decide what happens next.
import Anthropic from "@anthropic-ai/sdk";
import { InvalidDefinition, isDisposition, ModelUnavailable } from "../core/errors.ts";
import type { Model, ModelReply, ModelRequest } from "../ports/model.ts";
import { type ErrorContext, streamCut, toModelError } from "./anthropic-errors.ts";
import { fromEvents, toRequest } from "./anthropic-messages.ts";

export type AnthropicOptions = {
  /** Sent as the API key. With neither this nor `authToken` no credential is sent (a local server needs none). */
  apiKey?: string;
  /** A bearer token in place of a key. */
  authToken?: string;
  /** Any server that speaks the Messages API, without `/v1`. @default Anthropic's own */
  baseURL?: string;
  /** Longest time for one whole reply, in milliseconds. @default 600000 */
  timeoutMs?: number;
  /** Epoch milliseconds; only reads a retry-after that is a date. @default the machine's clock */
  now?: () => number;
};

/** Nothing is read from the environment or from credential files: what is not given is not used. */
export function createAnthropicModel(options: AnthropicOptions = {}): Model {
  const timeoutMs = options.timeoutMs ?? 600_000;
  const client = createClient(options, timeoutMs);
  const secrets = [options.apiKey, options.authToken].filter((secret) => secret !== undefined && secret !== "");
  const context: ErrorContext = { secrets: secrets as string[], now: options.now ?? Date.now };

  return {
    async reply(request, { signal, onText } = {}) {
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), timeoutMs).unref();
      const ends = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
      const reader = fromEvents(request.model);
      const take = (event: { type: string }): boolean => {
        const text = reader.add(event);
        if (text !== "") show(onText, text);
        return reader.reply() !== null;
      };
      let why = "the connection ended without the final event";
      try {
        const { requestId, rest } = await readStream(client, request, ends, take);
        void rest.finally(() => clearTimeout(timer));
        const reply = reader.reply();
        if (reply) return { ...reply, ...(requestId ? { requestId } : {}) } satisfies ModelReply;
      } catch (error) {
        clearTimeout(timer);
        if (!ends.aborted) {
          const known = toModelError(error, context);
          if (!reader.begun() || !isDisposition(known, "Transient")) throw known;
          why = known.message;
        }
      }
      if (signal?.aborted) throw signal.reason;
      if (limit.signal.aborted) why = `no complete reply within ${timeoutMs} ms`;
      if (limit.signal.aborted && !reader.begun()) throw new ModelUnavailable(why);
      throw streamCut(why, reader.partial());
    },

    async countTokens(request) {
      const { max_tokens: _, stream: __, ...body } = toRequest(request);
      try {
        return (await client.messages.countTokens(body)).input_tokens;
      } catch (error) {
        throw toModelError(error, context);
      }
    },
  };
}

function createClient({ apiKey, authToken, baseURL }: AnthropicOptions, timeoutMs: number): Anthropic {
  if (apiKey && authToken) throw new InvalidDefinition("give apiKey or authToken, not both");
  for (const [name, secret] of Object.entries({ apiKey, authToken })) {
    // A line break from a copied key would fail in the header, with the key in the message.
    if (secret && !/^[\x21-\x7e]+$/.test(secret))
      throw new InvalidDefinition(`${name}: holds characters that no key has`);
  }
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1) throw new InvalidDefinition("timeoutMs: at least 1");
  const anonymous = !apiKey && !authToken;
  return new Anthropic({
    ...(apiKey ? { apiKey } : { authToken: authToken || "none" }),
    ...(anonymous ? { defaultHeaders: { Authorization: null } } : {}),
    baseURL: baseURL || "https://api.anthropic.com",
    timeout: timeoutMs,
    maxRetries: 0,
    // The SDK's log lines and spans may hold content.
    logLevel: "off",
    openTelemetry: false,
  });
}

/**
 * Feeds events to `take` until it says that the reply is complete, or the stream ends. `rest` is the reading of
 * what follows the final event: nobody waits for it, but the connection can be used again.
 */
async function readStream(
  client: Anthropic,
  request: ModelRequest,
  signal: AbortSignal,
  take: (event: { type: string }) => boolean,
): Promise<{ requestId: string | null; rest: Promise<void> }> {
  const { data, request_id } = await client.messages.create(toRequest(request), { signal }).withResponse();
  const events = data[Symbol.asyncIterator]();
  for (;;) {
    const next = await events.next();
    if (next.done) return { requestId: request_id ?? null, rest: Promise.resolve() };
    if (take(next.value)) return { requestId: request_id ?? null, rest: drain(events) };
  }
}

async function drain(events: AsyncIterator<unknown>): Promise<void> {
  try {
    while (!(await events.next()).done);
  } catch {
    // After the final event nothing that happens to the connection matters.
  }
}

/** People watching must not be able to break the reply. */
function show(onText: ((text: string) => void) | undefined, text: string): void {
  try {
    onText?.(text);
  } catch {
    // Best effort by contract.
  }
}
