// cdk-nag reports each wildcard of a policy by itself; so is each acknowledged, with its reason.
import { type CfnElement, Stack, Token, Validations } from "aws-cdk-lib";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import type { Construct } from "constructs";

/** `finding`: the resource as cdk-nag writes it. */
export function acknowledgeWildcard(owner: Construct, finding: string, reason: string): void {
  Validations.of(owner).acknowledge({ id: `AwsSolutions-IAM5[Resource::${finding}]`, reason });
}

/** The objects of a bucket, as cdk-nag writes them. */
export function objectsOf(bucket: Bucket): string {
  return `<${logicalId(bucket)}.Arn>/*`;
}

/** The executions of a machine, as cdk-nag writes them. */
export function executionsOf(machine: StateMachine): string {
  const { account, region } = Stack.of(machine);
  const at = [named(region, "AWS::Region"), named(account, "AWS::AccountId")].join(":");
  return `arn:<AWS::Partition>:states:${at}:execution:<${logicalId(machine)}.Name>:*`;
}

function named(value: string, pseudo: string): string {
  return Token.isUnresolved(value) ? `<${pseudo}>` : value;
}

function logicalId(resource: Construct): string {
  return Stack.of(resource).getLogicalId(resource.node.defaultChild as CfnElement);
}
