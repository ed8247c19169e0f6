// What `import … from "baton/cdk"` gives: `Agent` first; the parts for those who put it together differently.
export { Agent, type AgentProps } from "./agent.ts";
export { AgentApi, type AgentApiProps, type TokenRules } from "./agent-api.ts";
export { Approvals, type ApprovalsProps, type MailProps } from "./approvals.ts";
export { Batch, type BatchProps, type TaskEvent } from "./batch.ts";
export { ExecutionAlarms, type ExecutionAlarmsProps } from "./execution-alarms.ts";
export { HandlerFunction, type HandlerFunctionProps } from "./handler-function.ts";
export { Recovery, type RecoveryProps } from "./recovery.ts";
export { SessionStore, type SessionStoreProps } from "./session-store.ts";
export { Workflow, type WorkflowProps } from "./workflow.ts";
