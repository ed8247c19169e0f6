// Errors are typed by what the runtime must do next. Each leaf has a literal `name`, because Step
// Functions matches names and minifiers rename classes, and a `code` that has a page in docs/errors.

/** What happens next: try again later | reload and decide anew | give up on this turn | tell the caller. */
export type Disposition = "Transient" | "Conflict" | "Terminal" | "Misuse";

export type FieldError = { path: string; message: string };

export type ErrorDetails = {
  /** Milliseconds after which a `Transient` may be tried again, when the other side said so. */
  retryAfterMs?: number;
  /** The fields at fault, for `Misuse`. */
  errors?: FieldError[];
  cause?: unknown;
};

export class BatonError extends Error {
  readonly disposition: Disposition;
  readonly code: string;
  /** HTTP status when the error reaches a client of the API. */
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  readonly errors: FieldError[] | undefined;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = kind.name;
    this.disposition = kind.disposition;
    this.code = kind.code;
    this.status = kind.status;
    this.retryAfterMs = details.retryAfterMs;
    this.errors = details.errors;
  }
}

export type ErrorKind = { name: string; disposition: Disposition; code: string; status: number };

/** Every leaf by its literal name: the source of the retry lists of the state machine and of docs/errors. */
export const errorTable = new Map<string, ErrorKind>();

function leaf(name: string, disposition: Disposition, code: string, status: number) {
  const kind: ErrorKind = { name, disposition, code, status };
  errorTable.set(name, kind);
  return class extends BatonError {
    static readonly kind = kind;
    constructor(message: string, details: ErrorDetails = {}) {
      super(kind, message, details);
    }
  };
}

// Transient: the same request may succeed later.
export const StoreUnavailable = leaf("StoreUnavailable", "Transient", "store.unavailable", 503);
export const StoreThrottled = leaf("StoreThrottled", "Transient", "store.throttled", 503);
export const ModelOverloaded = leaf("ModelOverloaded", "Transient", "model.overloaded", 503);
export const ModelRateLimited = leaf("ModelRateLimited", "Transient", "model.rate_limited", 503);
export const ModelUnavailable = leaf("ModelUnavailable", "Transient", "model.unavailable", 503);
export const ModelStreamCut = leaf("ModelStreamCut", "Transient", "model.stream_cut", 503);
export const CallInProgress = leaf("CallInProgress", "Transient", "call.in_progress", 503);
export const MailUnavailable = leaf("MailUnavailable", "Transient", "mail.unavailable", 503);
export const OrchestratorUnavailable = leaf("OrchestratorUnavailable", "Transient", "orchestrator.unavailable", 503);
/** The key set that tokens are checked with cannot be read now. */
export const AuthUnavailable = leaf("AuthUnavailable", "Transient", "auth.unavailable", 503);
export const ShuttingDown = leaf("ShuttingDown", "Transient", "runtime.shutting_down", 503);

// Conflict: someone else was first; reload and decide anew.
export const VersionConflict = leaf("VersionConflict", "Conflict", "store.version_conflict", 409);
/** Not a failure: the call must be put to people before it runs; the machine goes to Ask. */
export const ApprovalNeeded = leaf("ApprovalNeeded", "Conflict", "call.approval_needed", 409);
export const Fenced = leaf("Fenced", "Conflict", "session.fenced", 409);

// Terminal: trying again changes nothing; the turn ends with this reason.
export const UnreadableRecord = leaf("UnreadableRecord", "Terminal", "store.unreadable_record", 500);
export const UnknownFormat = leaf("UnknownFormat", "Terminal", "store.unknown_format", 500);
/** The database refused for a reason that trying again does not change: no such table or index, no permission. */
export const StoreRejected = leaf("StoreRejected", "Terminal", "store.rejected", 500);
export const ItemTooLarge = leaf("ItemTooLarge", "Terminal", "store.item_too_large", 413);
export const ModelRejected = leaf("ModelRejected", "Terminal", "model.rejected", 500);
export const ModelAuthFailed = leaf("ModelAuthFailed", "Terminal", "model.auth_failed", 500);
export const AgentChanged = leaf("AgentChanged", "Terminal", "agent.changed", 409);
export const ContextTooLarge = leaf("ContextTooLarge", "Terminal", "context.too_large", 413);
/** The mail server will not take this mail from us, now or later. */
export const MailRefused = leaf("MailRefused", "Terminal", "mail.refused", 500);
/** Thrown by a tool that cannot tell whether its effect happened: the call is then in doubt. */
export const OutcomeUnknown = leaf("OutcomeUnknown", "Terminal", "call.in_doubt", 500);
export const StepTimedOut = leaf("StepTimedOut", "Terminal", "step.timed_out", 500);

// Misuse: what the caller sent cannot be done; nothing was changed.
export const InvalidInput = leaf("InvalidInput", "Misuse", "input.invalid", 400);
export const InvalidDefinition = leaf("InvalidDefinition", "Misuse", "agent.invalid_definition", 400);
export const Unauthenticated = leaf("Unauthenticated", "Misuse", "auth.required", 401);
export const BudgetExceeded = leaf("BudgetExceeded", "Misuse", "budget.exceeded", 402);
export const Forbidden = leaf("Forbidden", "Misuse", "auth.forbidden", 403);
export const NotFound = leaf("NotFound", "Misuse", "not_found", 404);
export const MethodNotAllowed = leaf("MethodNotAllowed", "Misuse", "method.not_allowed", 405);
export const SessionBusy = leaf("SessionBusy", "Misuse", "session.busy", 409);
export const ImpossibleTransition = leaf("ImpossibleTransition", "Misuse", "session.impossible_transition", 409);
/** A person has stopped all work of the tenant; nothing starts until that is lifted. */
export const TenantStopped = leaf("TenantStopped", "Misuse", "tenant.stopped", 409);
export const ApprovalGone = leaf("ApprovalGone", "Misuse", "approval.gone", 410);
export const StaleVersion = leaf("StaleVersion", "Misuse", "session.stale_version", 412);
export const TooLarge = leaf("TooLarge", "Misuse", "input.too_large", 413);
export const IdempotencyMismatch = leaf("IdempotencyMismatch", "Misuse", "idempotency.mismatch", 422);

/** The recorded form of an error, as it stands in the log and in answers: no stack, no cause. */
export type ErrorRecord = { name: string; code: string; message: string };

/** Turns anything thrown into its recorded form. Unknown errors keep their name and message only. */
export function toErrorRecord(error: unknown): ErrorRecord {
  if (error instanceof BatonError) return { name: error.name, code: error.code, message: error.message };
  if (error instanceof Error) return { name: error.name || "Error", code: "unexpected", message: error.message };
  return { name: "Error", code: "unexpected", message: String(error) };
}

/** The disposition of a recorded name; an unknown name is `Terminal`, never a wrong leaf. */
export function dispositionOf(name: string): Disposition {
  return errorTable.get(name)?.disposition ?? "Terminal";
}

/** Whether `error` (also after a Lambda or JSON hop, where only the name is left) says `disposition`. */
export function isDisposition(error: unknown, disposition: Disposition): boolean {
  if (error instanceof BatonError) return error.disposition === disposition;
  return error instanceof Error && errorTable.get(error.name)?.disposition === disposition;
}
