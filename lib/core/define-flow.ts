// defineFlow: a fixed sequence on the same engine, log and machine. Each committed step never runs again.
import * as z from "zod";
import type { UserContent } from "./content.ts";
import {
  agentName,
  limitsSchema,
  type ModelChoice,
  type SessionPolicy,
  type SessionRules,
  sessionPolicySchema,
  sessionRules,
} from "./define-agent.ts";
import { check, isFunction, type Tool, type ToolContext } from "./define-tool.ts";
import { InvalidDefinition } from "./errors.ts";
import type { Json } from "./json.ts";
import type { Limits } from "./limits.ts";

type When<State> = {
  /** Skipped (and said so in the log) when it answers false. @default always */ when?: (state: State) => boolean;
};

/** A reducer: repeatable, since it runs again when the process dies before its result is stored. */
export type Reducer<State> = (state: State, ctx: ToolContext) => Promise<State> | State;

export type PromptStep<State> = When<State> & {
  prompt: (state: State) => string;
  into: (state: State, text: string) => State;
  tool?: never;
};

export type ToolStep<State> = When<State> & {
  tool: Tool;
  input: (state: State) => unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the author's tool says what it answers
  into: (state: State, output: any) => State;
  prompt?: never;
};

export type FlowStep =
  | { kind: "reduce"; name: string; when?: (state: never) => boolean; run: Reducer<never> }
  | ({ kind: "prompt"; name: string } & PromptStep<never>)
  | ({ kind: "tool"; name: string } & ToolStep<never>);

/** One step of a flow: a reducer with options, one model call, or one tool. */
export function step<State>(name: string, run: Reducer<State>, options?: When<State>): FlowStep;
export function step<State>(name: string, options: PromptStep<State> | ToolStep<State>): FlowStep;
export function step(name: string, body: unknown, options: { when?: unknown } = {}): FlowStep {
  const what = `step "${name}"`;
  if (typeof body === "function") {
    check(z.strictObject({ when: isFunction.optional() }), options, what);
    return {
      kind: "reduce",
      name,
      run: body as Reducer<never>,
      ...(options.when ? { when: options.when as (s: never) => boolean } : {}),
    };
  }
  if (typeof body === "object" && body !== null && "tool" in body) {
    const tool = z.custom<Tool>((value) => (value as Tool)?.kind === "tool", "must be made by defineTool");
    const checked = check(
      z.strictObject({ tool, input: isFunction, into: isFunction, when: isFunction.optional() }),
      body,
      what,
    );
    return { kind: "tool", name, ...checked } as FlowStep;
  }
  return {
    kind: "prompt",
    name,
    ...check(z.strictObject({ prompt: isFunction, into: isFunction, when: isFunction.optional() }), body, what),
  } as FlowStep;
}

export type FlowOptions<State extends z.ZodType> = {
  name: string;
  /** The flow's state; checked after every step. Must be JSON. */
  state: State;
  /** The first state, from the text of the message that starts the turn. */
  initial: (input: string, content: UserContent[]) => z.input<State>;
  steps: FlowStep[];
  /** The answer of the turn. @default the last text of a model step, else the final state as JSON */
  answer?: (state: z.output<State>) => string;
  /** Needed when a step has a prompt. */
  model?: ModelChoice;
  instructions?: string;
  session?: SessionPolicy;
  limits?: Partial<Limits>;
};

export type Flow = {
  readonly kind: "flow";
  readonly name: string;
  readonly state: z.ZodType<Json>;
  readonly initial: (input: string, content: UserContent[]) => unknown;
  readonly steps: readonly FlowStep[];
  readonly answer?: (state: never) => string;
  readonly instructions: string;
  readonly model: { id: string; maxTokens: number };
  readonly tools: readonly Tool[];
  readonly session: SessionRules;
  readonly limits: Limits;
};

export type Agent = import("./define-agent.ts").ModelAgent | Flow;

export function defineFlow<State extends z.ZodType>(options: FlowOptions<State>): Flow {
  const name = typeof options?.name === "string" ? options.name : "?";
  const checked = check(
    z.strictObject({
      name: agentName,
      state: z.custom<z.ZodType>((value) => value instanceof z.ZodType, "must be a zod schema"),
      initial: isFunction,
      steps: z
        .array(z.custom<FlowStep>((v) => typeof (v as FlowStep)?.kind === "string", "must be made by step(…)"))
        .min(1),
      answer: isFunction.optional(),
      model: z.strictObject({ id: z.string().min(1), maxTokens: z.int().min(1).default(4096) }).optional(),
      instructions: z.string().default("You carry out one step of a fixed procedure. Answer with the asked text only."),
      session: sessionPolicySchema.prefault({}),
      limits: limitsSchema.prefault({}),
    }),
    options,
    `flow "${name}"`,
  );
  const names = checked.steps.map((candidate) => candidate.name);
  const twice = names.find((candidate, i) => names.indexOf(candidate) !== i);
  if (twice) throw new InvalidDefinition(`flow "${name}".steps: two steps are named "${twice}"`);
  if (!checked.model && checked.steps.some((candidate) => candidate.kind === "prompt")) {
    throw new InvalidDefinition(`flow "${name}".model: a step has a prompt, so name the model: { id: "…" }`);
  }
  const tools = checked.steps.flatMap((candidate) => (candidate.kind === "tool" ? [candidate.tool] : []));
  return Object.freeze({
    kind: "flow",
    name: checked.name,
    state: checked.state as z.ZodType<Json>,
    initial: checked.initial as Flow["initial"],
    steps: Object.freeze(checked.steps),
    ...(checked.answer ? { answer: checked.answer as (state: never) => string } : {}),
    instructions: checked.instructions,
    model: checked.model ?? { id: "", maxTokens: 1 },
    tools: Object.freeze([...new Map(tools.map((tool) => [tool.name, tool])).values()]),
    session: sessionRules(checked.session, name),
    limits: checked.limits,
  });
}
