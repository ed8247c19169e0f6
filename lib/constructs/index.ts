// What `import … from "baton/cdk"` gives: `Agent` first; the parts for those who put it together differently.
export { Agent, type AgentProps } from "./agent.ts";
export { ExecutionAlarms, type ExecutionAlarmsProps } from "./execution-alarms.ts";
export { SessionStore, type SessionStoreProps } from "./session-store.ts";
export { StepFunction, type StepFunctionProps } from "./step-function.ts";
export { Workflow, type WorkflowProps } from "./workflow.ts";
