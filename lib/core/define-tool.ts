// defineTool: what an author says about a tool. Everything is checked here, once, so that a wrong option
// fails when the agent is defined and not in the middle of a turn.
import * as z from "zod";
import { type Duration, parseDuration } from "./duration.ts";
import { InvalidDefinition } from "./errors.ts";
import type { Effect } from "./event.ts";
import type { Json, JsonObject } from "./json.ts";
import { maxToolTimeoutMs } from "./limits.ts";

/** What a tool's code gets besides its input. Frozen. */
export type ToolContext = {
  tenant: string;
  user: string;
  key: string;
  sessionId: string;
  turn: number;
  round: number;
  /** The same on every attempt of this call; hand it to whatever takes one. */
  idempotencyKey: string;
  /** Aborted at the tool's time-out and when the runtime stops. */
  signal: AbortSignal;
  /** Structured line in the runtime's log; no content, no secrets. */
  log: (message: string, fields?: Record<string, string | number | boolean>) => void;
  /** One line for people watching; not stored. */
  progress: (message: string) => void;
};

export type ApprovalRule = {
  approvers: string[];
  /** @default "3d" */
  expiresIn?: Duration;
  /** Approvals needed. A single rejection is a veto. @default 1 */
  quorum?: number;
  /** @default no reminder */
  remindAfter?: Duration;
  /** Asked in addition at `escalateAfter`. @default nobody */
  escalateTo?: string[];
  /** @default two thirds of expiresIn */
  escalateAfter?: Duration;
  /** May the requester decide on own requests? @default false */
  allowSelf?: boolean;
  /** May approvers change the arguments? @default true */
  allowEdit?: boolean;
  /** link: the mailed link is enough; code: a second mail carries a code; signin: only signed in. @default "link" */
  confirm?: "link" | "code" | "signin";
};

export type Verdict =
  | "done"
  | "not_done"
  | "unknown"
  | { status: "done"; result: Json }
  | { status: "not_done" }
  | { status: "unknown" };

export type ToolOptions<Input extends z.ZodType, Output> = {
  /** [a-zA-Z0-9_-], at most 64 characters (Messages API). */
  name: string;
  description: string;
  /** A zod object: the model's arguments. */
  input: Input;
  /** read: may run again. idempotent: may run again with the same key. once: never runs again unless verified. */
  effect: Effect;
  run: (input: z.output<Input>, ctx: ToolContext) => Promise<Output> | Output;
  /** Longest run; afterwards the signal aborts and the call is a time-out. @default "60s" */
  timeout?: Duration;
  /** A rule, or a function that answers one (or null) for this input. @default none: runs without asking */
  approval?:
    | ApprovalRule
    | ((input: z.output<Input>, ctx: ToolContext) => ApprovalRule | null | Promise<ApprovalRule | null>);
  /** Asked after a crash between a `once` effect and its record: did it happen? */
  verify?: (key: string, input: z.output<Input>, ctx: ToolContext) => Promise<Verdict> | Verdict;
  /** Ids or addresses of what the call made, for the handoff record. */
  resources?: (output: Output) => string[];
  /** Bumped by the author when the meaning changes; an approval given for another version asks again. @default "1" */
  version?: string;
};

const rule = z.strictObject({
  approvers: z.array(z.email()).min(1, "name at least one approver"),
  expiresIn: z.string().optional(),
  quorum: z.int().min(1).optional(),
  remindAfter: z.string().optional(),
  escalateTo: z.array(z.email()).min(1).optional(),
  escalateAfter: z.string().optional(),
  allowSelf: z.boolean().optional(),
  allowEdit: z.boolean().optional(),
  confirm: z.enum(["link", "code", "signin"]).optional(),
});

// biome-ignore lint/suspicious/noExplicitAny: only that it is a function can be checked
export const isFunction = z.custom<(...args: any[]) => any>(
  (value) => typeof value === "function",
  "must be a function",
);

const toolOptions = z.strictObject({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "use 1 to 64 of letters, digits, _ and -"),
  description: z.string().min(1, "say what the tool does: the model chooses by it"),
  input: z.custom<z.ZodType>((value) => value instanceof z.ZodObject, "must be a z.object(…)"),
  effect: z.enum(["read", "idempotent", "once"]),
  run: isFunction,
  timeout: z.string().optional(),
  approval: z.union([rule, isFunction]).optional(),
  verify: isFunction.optional(),
  resources: isFunction.optional(),
  version: z.string().min(1).max(64).optional(),
});

/** A checked tool. `inputSchema` is the JSON Schema shown to the model. */
export type Tool = {
  readonly kind: "tool";
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType;
  readonly inputSchema: JsonObject;
  readonly effect: Effect;
  readonly timeoutMs: number;
  readonly version: string;
  readonly run: (input: unknown, ctx: ToolContext) => unknown;
  readonly approval?: ApprovalRule | ((input: unknown, ctx: ToolContext) => unknown);
  readonly verify?: (key: string, input: unknown, ctx: ToolContext) => unknown;
  readonly resources?: (output: unknown) => string[];
};

export function defineTool<Input extends z.ZodType, Output>(options: ToolOptions<Input, Output>): Tool {
  const name = typeof options?.name === "string" ? options.name : "?";
  const checked = check(toolOptions, options, `tool "${name}"`);
  const timeoutMs = parseDuration(checked.timeout ?? "60s", `tool "${name}".timeout`);
  if (timeoutMs > maxToolTimeoutMs) {
    throw new InvalidDefinition(
      `tool "${name}".timeout: at most 14m, since one call is one Lambda run; split longer work`,
    );
  }
  if (checked.approval && typeof checked.approval === "object")
    checkRule(checked.approval as ApprovalRule, `tool "${name}".approval`);
  if (checked.verify && checked.effect !== "once") {
    throw new InvalidDefinition(
      `tool "${name}".verify: only a tool with effect "once" is ever in doubt; remove it or change the effect`,
    );
  }
  const { $schema: _, ...inputSchema } = z.toJSONSchema(options.input, { io: "input" }) as JsonObject;
  return Object.freeze({
    kind: "tool",
    name: options.name,
    description: options.description,
    input: options.input,
    inputSchema,
    effect: options.effect,
    timeoutMs,
    version: options.version ?? "1",
    run: options.run as Tool["run"],
    ...(options.approval ? { approval: options.approval as NonNullable<Tool["approval"]> } : {}),
    ...(options.verify ? { verify: options.verify as NonNullable<Tool["verify"]> } : {}),
    ...(options.resources ? { resources: options.resources as NonNullable<Tool["resources"]> } : {}),
  });
}

/** Checks a rule and its durations; throws `InvalidDefinition` naming the field. */
export function checkRule(value: unknown, field: string): ApprovalRule {
  const checked = check(rule, value, field) as ApprovalRule;
  const expiresMs = parseDuration(checked.expiresIn ?? "3d", `${field}.expiresIn`);
  for (const name of ["remindAfter", "escalateAfter"] as const) {
    const text = checked[name];
    if (text !== undefined && parseDuration(text, `${field}.${name}`) >= expiresMs) {
      throw new InvalidDefinition(`${field}.${name}: must be shorter than expiresIn (${checked.expiresIn ?? "3d"})`);
    }
  }
  if (expiresMs > 365 * 86_400_000) throw new InvalidDefinition(`${field}.expiresIn: at most 365d`);
  const people = new Set([...checked.approvers, ...(checked.escalateTo ?? [])]).size;
  if ((checked.quorum ?? 1) > people) {
    throw new InvalidDefinition(`${field}.quorum: ${checked.quorum} approvals are asked of ${people} people`);
  }
  if (checked.escalateAfter && !checked.escalateTo)
    throw new InvalidDefinition(`${field}.escalateAfter: needs escalateTo`);
  return checked;
}

/** Runs a zod schema over author's options; every fault in one message, each with its path. */
export function check<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
  const lines = errors.map((error) => `${what}${error.path ? `.${error.path}` : ""}: ${error.message}`);
  throw new InvalidDefinition(lines.join("; "), { errors });
}
