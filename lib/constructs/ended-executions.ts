// The status change of an execution that has ended, as a rule matches it (Step Functions developer guide, "Automating
// Step Functions event delivery with EventBridge").
import type { EventPattern } from "aws-cdk-lib/aws-events";

/** `arn`: of the state machine. */
export function endedExecutions(arn: string): EventPattern {
  return {
    source: ["aws.states"],
    detailType: ["Step Functions Execution Status Change"],
    detail: { stateMachineArn: [arn], status: ["FAILED", "TIMED_OUT", "ABORTED", "SUCCEEDED"] },
  };
}
