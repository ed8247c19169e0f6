// Starting executions, and asking whether one runs: for whoever accepts messages or recovers sessions.
import { ArnFormat, Stack } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { acknowledgeWildcard, executionsOf } from "./acknowledge-wildcard.ts";
import type { HandlerFunction } from "./handler-function.ts";
import { machineArn } from "./machine-arn.ts";

/** `machine`: name of the state machine. */
export function grantExecutions({ role }: HandlerFunction, machine: string): void {
  const executions = Stack.of(role).formatArn({
    service: "states",
    resource: "execution",
    resourceName: `${machine}:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const start = { sid: "Start", actions: ["states:StartExecution"], resources: [machineArn(role, machine)] };
  const look = { sid: "Look", actions: ["states:DescribeExecution"], resources: [executions] };
  for (const statement of [start, look]) role.addToPolicy(new PolicyStatement(statement));
  acknowledgeWildcard(role, executionsOf(role, machine), "Executions of this machine get their names when they start.");
}
