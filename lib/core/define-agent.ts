// defineAgent: a model with tools in a loop, and the rules of its sessions.
import * as z from "zod";
import type { BeforeCall } from "./before-call.ts";
import { check, type Tool } from "./define-tool.ts";
import { type Duration, parseDuration } from "./duration.ts";
import { InvalidDefinition } from "./errors.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { type MemoryOptions, type MemoryRules, memorySchema } from "./memory.ts";
import { type ProjectOptions, type ProjectRules, projectRules } from "./project/project-options.ts";

export type ModelChoice = {
  /** The provider's model id. */
  id: string;
  /** Output limit of one reply, in tokens. @default 4096 */
  maxTokens?: number;
  /** Context window in tokens. @default 200000 */
  windowTokens?: number;
  /** Model of the summary calls. @default the same */
  summarizer?: string;
  /** Context window of the summarizer, in tokens. @default windowTokens */
  summarizerWindowTokens?: number;
  /** Project mode: the model of the initializer. @default the same */
  planner?: string;
  /** Project mode: the model of the worker. @default the same */
  worker?: string;
};

export type ContextStrategy = "auto" | "full-replay" | "sliding-window" | "checkpoint" | "compaction";

export type SessionPolicy = {
  /** @default "idle"; "off" in project mode */
  reset?: "off" | "idle" | "daily" | "both";
  /** Since the last user message. @default "24h" */
  idleAfter?: Duration;
  /** Local hour of the daily boundary, 0–23. @default 4 */
  dailyAt?: number;
  /** IANA zone of the daily boundary. @default "UTC" */
  timeZone?: string;
  /** @default "15m" */
  idleGuard?: Duration;
  /** A message that arrives while a turn runs. @default "enqueue" */
  busy?: "enqueue" | "steer" | "interrupt" | "reject";
  /** @default "24h" */
  resumeWithin?: Duration;
  /** @default "15m" */
  stuckAfter?: Duration;
  /** Longest an open turn defers a reset. @default "7d" */
  maxDefer?: Duration;
  /** Is the handoff record shown to the next session? @default handoff for suspended and daily, none for idle */
  carryOver?: "none" | "handoff";
};

export type AgentOptions = {
  /** [a-z0-9-], at most 64 characters. */
  name: string;
  instructions: string;
  model: ModelChoice;
  /** @default no tools */
  tools?: Tool[];
  /**
   * project: the first turn plans a feature list (model.planner), then the runtime starts turn after turn by itself, each
   * building and proving one feature (model.worker), until all pass, the budget ends, or it is blocked. @default "chat"
   */
  mode?: "chat" | "project";
  /** Needed in mode "project". */
  project?: ProjectOptions;
  /** @default "auto" */
  context?: ContextStrategy;
  /** Token budget of `sliding-window`. @default 8000 */
  windowTokens?: number;
  session?: SessionPolicy;
  limits?: Partial<Limits>;
  /** Kept word for word in every context, whatever is compacted. @default none */
  constraints?: string[];
  /** Sees each call with the origins that led to it; may demand an approval or refuse. @default none */
  beforeCall?: BeforeCall;
  /** Facts about the user, kept across sessions. @default off */
  memory?: MemoryOptions;
};

/** Tools that the runtime offers by itself. */
export const builtInNames: readonly string[] = ["update_progress", "recall", "plan_features", "complete_feature"];

const durationText = z.string();
const sessionPolicy = z.strictObject({
  reset: z.enum(["off", "idle", "daily", "both"]).default("idle"),
  idleAfter: durationText.default("24h"),
  dailyAt: z.int().min(0).max(23).default(4),
  timeZone: z.string().default("UTC").refine(isTimeZone, "unknown IANA time zone"),
  idleGuard: durationText.default("15m"),
  busy: z.enum(["enqueue", "steer", "interrupt", "reject"]).default("enqueue"),
  resumeWithin: durationText.default("24h"),
  stuckAfter: durationText.default("15m"),
  maxDefer: durationText.default("7d"),
  carryOver: z.enum(["none", "handoff"]).optional(),
});

const positive = z.number().positive();
export const limitsSchema = z.strictObject({
  roundsPerTurn: z.int().min(1).max(100_000).default(defaultLimits.roundsPerTurn),
  turnMinutes: positive.default(defaultLimits.turnMinutes),
  sameCall: z.int().min(2).default(defaultLimits.sameCall),
  usdPerSession: z.number().min(0).default(0),
  usdPerUserDay: z.number().min(0).default(0),
  usdPerTenantDay: z.number().min(0).default(0),
  tokensPerSession: z.int().min(0).default(0),
  tokensPerTenantDay: z.int().min(0).default(0),
});

export const agentName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "use lower-case letters, digits and -");

const agentOptions = z.strictObject({
  name: agentName,
  instructions: z.string().min(1),
  model: z.strictObject({
    id: z.string().min(1),
    maxTokens: z.int().min(1).default(4096),
    windowTokens: z.int().min(1000).default(200_000),
    summarizer: z.string().min(1).optional(),
    summarizerWindowTokens: z.int().min(1000).optional(),
    planner: z.string().min(1).optional(),
    worker: z.string().min(1).optional(),
  }),
  tools: z.array(z.custom<Tool>((value) => (value as Tool)?.kind === "tool", "must be made by defineTool")).default([]),
  mode: z.enum(["chat", "project"]).default("chat"),
  project: z.unknown().optional(),
  context: z.enum(["auto", "full-replay", "sliding-window", "checkpoint", "compaction"]).default("auto"),
  windowTokens: z.int().min(500).default(8000),
  session: sessionPolicy.prefault({}),
  limits: limitsSchema.prefault({}),
  constraints: z.array(z.string().min(1)).default([]),
  beforeCall: z.custom<BeforeCall>((value) => typeof value === "function", "must be a function").optional(),
  memory: memorySchema.prefault({}),
});

export type SessionRules = {
  reset: "off" | "idle" | "daily" | "both";
  idleAfterMs: number;
  dailyAt: number;
  timeZone: string;
  idleGuardMs: number;
  busy: "enqueue" | "steer" | "interrupt" | "reject";
  resumeWithinMs: number;
  stuckAfterMs: number;
  maxDeferMs: number;
  carryOver?: "none" | "handoff";
};

/** A checked agent, all defaults filled in. */
export type ModelAgent = {
  readonly kind: "agent";
  readonly name: string;
  readonly instructions: string;
  readonly model: {
    id: string;
    maxTokens: number;
    windowTokens: number;
    summarizer: string;
    summarizerWindowTokens: number;
    planner: string;
    worker: string;
  };
  readonly tools: readonly Tool[];
  /** Present in project mode. */
  readonly project?: ProjectRules;
  readonly context: ContextStrategy;
  readonly windowTokens: number;
  readonly session: SessionRules;
  readonly limits: Limits;
  readonly constraints: readonly string[];
  readonly beforeCall?: BeforeCall;
  readonly memory: MemoryRules;
};

export function defineAgent(options: AgentOptions): ModelAgent {
  const name = typeof options?.name === "string" ? options.name : "?";
  const checked = check(agentOptions, options, `agent "${name}"`);
  if (checked.model.maxTokens >= checked.model.windowTokens) {
    throw new InvalidDefinition(
      `agent "${name}".model.maxTokens: must be smaller than windowTokens (${checked.model.windowTokens})`,
    );
  }
  const { id, maxTokens, windowTokens } = checked.model;
  const tools = Object.freeze(uniqueTools(checked.tools, name));
  const project = projectRules({ ...checked, tools });
  // A project runs for days without a word from its user.
  const keepsSession = project && options.session?.reset === undefined;
  return Object.freeze({
    kind: "agent",
    name: checked.name,
    instructions: checked.instructions,
    model: {
      id,
      maxTokens,
      windowTokens,
      summarizer: checked.model.summarizer ?? id,
      summarizerWindowTokens: checked.model.summarizerWindowTokens ?? windowTokens,
      planner: checked.model.planner ?? id,
      worker: checked.model.worker ?? id,
    },
    tools,
    ...(project ? { project } : {}),
    context: checked.context,
    windowTokens: checked.windowTokens,
    session: sessionRules(keepsSession ? { ...checked.session, reset: "off" } : checked.session, name),
    limits: checked.limits,
    constraints: checked.constraints,
    ...(checked.beforeCall ? { beforeCall: checked.beforeCall } : {}),
    memory: { ...checked.memory, model: checked.memory.model ?? checked.model.summarizer ?? id },
  });
}

export function sessionRules(policy: z.output<typeof sessionPolicy>, agent: string): SessionRules {
  const ms = (field: "idleAfter" | "idleGuard" | "resumeWithin" | "stuckAfter" | "maxDefer") =>
    parseDuration(policy[field], `agent "${agent}".session.${field}`);
  return {
    reset: policy.reset,
    idleAfterMs: ms("idleAfter"),
    dailyAt: policy.dailyAt,
    timeZone: policy.timeZone,
    idleGuardMs: ms("idleGuard"),
    busy: policy.busy,
    resumeWithinMs: ms("resumeWithin"),
    stuckAfterMs: ms("stuckAfter"),
    maxDeferMs: ms("maxDefer"),
    ...(policy.carryOver ? { carryOver: policy.carryOver } : {}),
  };
}

export const sessionPolicySchema = sessionPolicy;

function uniqueTools(tools: Tool[], agent: string): Tool[] {
  const names = tools.map((tool) => tool.name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice) throw new InvalidDefinition(`agent "${agent}".tools: two tools are named "${twice}"`);
  const taken = names.find((name) => builtInNames.includes(name));
  if (taken) throw new InvalidDefinition(`agent "${agent}".tools: "${taken}" is the name of a built-in tool`);
  return tools;
}

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
