// What an error of the DynamoDB client means for the caller. Refusals are answers; a failure is Transient only
// where trying again can help; the rest says what to mend.
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { InvalidInput, ItemTooLarge, StoreRejected, StoreThrottled, StoreUnavailable } from "../core/errors.ts";

type AwsError = Error & { code?: string; $metadata?: { httpStatusCode?: number } };

const throttling = new Set([
  "LimitExceededException",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "ThrottlingException",
  "TooManyRequestsException",
]);

const network = new Set([
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);

/** The condition of a write did not hold. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === "ConditionalCheckFailedException";
}

/** The typed error for anything that the client threw, with the original as its cause. */
export function storeFailure(thrown: unknown, operation: string): Error {
  const cause = (thrown instanceof AnswerLost ? thrown.original : thrown) as AwsError;
  const message = `DynamoDB ${operation}: ${cause.name}: ${cause.message}`;
  if (isThrottling(cause)) return new StoreThrottled(message, { cause });
  if (isOpen(cause)) return new StoreUnavailable(message, { cause });
  if (cause.name === "ValidationException" && /item size/i.test(cause.message))
    return new ItemTooLarge(message, { cause });
  if (cause.name === "ValidationException" && /incorrect data type|operand type/i.test(cause.message)) {
    return new InvalidInput(message, { cause, errors: [{ path: "$", message: cause.message }] });
  }
  return new StoreRejected(message, { cause });
}

/**
 * A document client on the connections of `client` that repeats a write only when it surely did not happen
 * (throttling). Otherwise the client's own retry of a lost answer would add twice, or report a refusal of our
 * own success (H10).
 */
export function writingOnce(client: DynamoDBClient): DynamoDBDocumentClient {
  const documents = DynamoDBDocumentClient.from(client);
  documents.middlewareStack = client.middlewareStack.clone();
  documents.middlewareStack.add(
    (next, context) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        const isRead = context.commandName === "GetItemCommand" || context.commandName === "QueryCommand";
        throw isRead || !isOpen(error as AwsError) ? error : new AnswerLost(error);
      }
    },
    { step: "finalizeRequest", priority: "low", name: "batonWritesOnce" },
  );
  return documents;
}

/** Carries the error past the client's retries, which look at `name`, `code`, `$metadata` and `cause`. */
class AnswerLost extends Error {
  readonly original: unknown;
  constructor(original: unknown) {
    super("the answer was lost");
    this.original = original;
  }
}

function isThrottling(error: AwsError): boolean {
  return throttling.has(error.name) || error.$metadata?.httpStatusCode === 429;
}

/** Whether the request may or may not have been carried out. */
function isOpen(error: AwsError): boolean {
  const status = error.$metadata?.httpStatusCode ?? 0;
  if (isThrottling(error)) return false;
  return status >= 500 || error.name === "TimeoutError" || error.name === "AbortError" || network.has(error.code ?? "");
}
