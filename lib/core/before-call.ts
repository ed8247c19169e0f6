// The author's policy over all tools of an agent: asked when a call is planned and again before it runs, with the
// frozen arguments and with what stood in the context. It can only tighten: a tool's own rule stays when it says nothing.
import type { ApprovalRule, ToolContext } from "./define-tool.ts";
import type { Effect } from "./event.ts";
import type { Json } from "./json.ts";
import type { Origin } from "./origins.ts";

/** The call as it will run. Frozen. */
export type CallToCheck = {
  tool: string;
  input: Json;
  effect: Effect;
  origins: readonly Origin[];
  /** What the tool's own rule demands; null: it runs without asking. */
  approval: ApprovalRule | null;
};

/** `approval`: people decide by this rule instead of the tool's; `refuse`: never run, the text is told to the model. */
export type CallVerdict = { approval: ApprovalRule } | { refuse: string } | null | undefined;

/** A policy that throws refuses the call: a failure never opens the gate. */
export type BeforeCall = (call: CallToCheck, ctx: ToolContext) => CallVerdict | Promise<CallVerdict>;
