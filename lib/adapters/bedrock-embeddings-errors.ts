// What went wrong with an embedding, by what must happen next. Names only: Bedrock's messages may quote the text (G20).
import { BatonError, ModelAuthFailed, ModelRateLimited, ModelRejected, ModelUnavailable } from "../core/errors.ts";

type AwsError = Error & {
  $metadata?: { httpStatusCode?: number; requestId?: string };
  $response?: { headers?: Record<string, string> };
};

/** Maps anything that the client threw. Source: Amazon Bedrock API Reference, InvokeModel, "Errors". */
export function toEmbeddingError(thrown: unknown): BatonError {
  if (thrown instanceof BatonError) return thrown;
  const error = (thrown instanceof Error ? thrown : new Error(String(thrown))) as AwsError;
  const { httpStatusCode: status, requestId } = error.$metadata ?? {};
  const Leaf = leafFor(error.name, status);
  const where = requestId ? ` (request ${requestId})` : "";
  const retryAfterMs = parseRetryAfter(error.$response?.headers?.["retry-after"]);
  return new Leaf(
    `Bedrock made no embedding: ${error.name}${where}`,
    retryAfterMs === undefined ? {} : { retryAfterMs },
  );
}

/** Refused before any work. */
export function isRefusal(error: BatonError): boolean {
  return refusals.includes(error.name);
}

const refusals: readonly string[] = [ModelRateLimited, ModelRejected, ModelAuthFailed].map(({ kind }) => kind.name);

/** No credentials, or a region that nobody has named: nothing was sent. */
const unsigned = /^(?:CredentialsProviderError|TokenProviderError|NoCredentials)$/;

function leafFor(name: string, status: number | undefined) {
  if (unsigned.test(name)) return ModelAuthFailed;
  if (status === 429 || name === "ThrottlingException" || name === "ServiceQuotaExceededException")
    return ModelRateLimited;
  if (status === undefined) return ModelUnavailable;
  if (status === 401 || status === 403) return ModelAuthFailed;
  // 408 ModelTimeoutException and 424 ModelErrorException: the model's own trouble.
  return status >= 500 || status === 408 || status === 424 ? ModelUnavailable : ModelRejected;
}

/** Seconds only; a date or nonsense is no word. */
function parseRetryAfter(text: string | undefined): number | undefined {
  return text && /^\d{1,6}$/.test(text.trim()) ? Number(text) * 1000 : undefined;
}
