import { ArnFormat, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";

/** ARN of the state machine with this name, made of text: it waits for no resource, so the machine's own functions can hold it. */
export function machineArn(scope: Construct, name: string): string {
  return Stack.of(scope).formatArn({
    service: "states",
    resource: "stateMachine",
    resourceName: name,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}
