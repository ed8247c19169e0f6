// The orchestrator on AWS Step Functions. Executions are asked about by name only for telling ownerless turns:
// DescribeExecution allows 15 a second.
import {
  DescribeExecutionCommand,
  SendTaskSuccessCommand,
  type SFNClient,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import { OrchestratorUnavailable } from "../core/errors.ts";
import type { Orchestrator } from "../ports/orchestrator.ts";

export type StepFunctionsOptions = {
  client: SFNClient;
  /** arn:aws:states:region:account:stateMachine:name */
  stateMachineArn: string;
};

/** A dead token answers one of these, whether it was used, timed out or made up. */
const deadToken = ["TaskTimedOut", "TaskDoesNotExist", "InvalidToken"];

export function createStepFunctionsOrchestrator({ client, stateMachineArn }: StepFunctionsOptions): Orchestrator {
  const executionArn = (name: string) => `${stateMachineArn.replace(":stateMachine:", ":execution:")}:${name}`;
  return {
    start: (name, input) =>
      answer<"started" | "exists">("StartExecution", { ExecutionAlreadyExists: "exists" }, async () => {
        // The same name and input while it runs is answered like a start (idempotent), and starts nothing.
        await client.send(new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }));
        return "started";
      }),
    isRunning: (name) =>
      answer("DescribeExecution", { ExecutionDoesNotExist: false }, async () => {
        const { status } = await client.send(new DescribeExecutionCommand({ executionArn: executionArn(name) }));
        return status === "RUNNING";
      }),
    release: (taskToken, output) =>
      answer<"released" | "gone">(
        "SendTaskSuccess",
        Object.fromEntries(deadToken.map((name) => [name, "gone"])),
        async () => {
          await client.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(output) }));
          return "released";
        },
      ),
  };
}

/** `known`: what errors with these names mean. Anything else says nothing about what happened; its text may hold the token. */
async function answer<T>(operation: string, known: Record<string, NoInfer<T>>, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    const name = error instanceof Error ? error.name : "unknown error";
    if (Object.hasOwn(known, name)) return known[name] as T;
    throw new OrchestratorUnavailable(`${operation}: ${name}`);
  }
}
