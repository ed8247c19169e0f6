// What an agent author imports. Tests of agents: "baton/testing"; deploying: "baton/cdk".
export type { BeforeCall, CallToCheck, CallVerdict } from "./core/before-call.ts";
export {
  type AgentOptions,
  defineAgent,
  type ModelAgent,
  type ModelChoice,
  type SessionPolicy,
} from "./core/define-agent.ts";
export { type Agent, defineFlow, type Flow, type FlowOptions, step } from "./core/define-flow.ts";
export {
  type ApprovalRule,
  defineTool,
  type Tool,
  type ToolContext,
  type ToolOptions,
  type Verdict,
} from "./core/define-tool.ts";
export * from "./core/errors.ts";
export type { Json, JsonObject } from "./core/json.ts";
export type { Origin } from "./core/origins.ts";
