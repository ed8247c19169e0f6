// cdk-nag reports each wildcard of a policy by itself; so is each acknowledged, with its reason.
import { type CfnElement, Stack, Token, Validations } from "aws-cdk-lib";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";

/** `finding`: the resource as cdk-nag writes it. */
export function acknowledgeWildcard(owner: Construct, finding: string, reason: string): void {
  Validations.of(owner).acknowledge({ id: `AwsSolutions-IAM5[Resource::${finding}]`, reason });
}

/** The objects of a bucket, as cdk-nag writes them. */
export function objectsOf(bucket: Bucket): string {
  const id = Stack.of(bucket).getLogicalId(bucket.node.defaultChild as CfnElement);
  return `<${id}.Arn>/*`;
}

/** The executions of a machine with this name, as cdk-nag writes them. */
export function executionsOf(scope: Construct, machine: string): string {
  const { account, region } = Stack.of(scope);
  const at = [named(region, "AWS::Region"), named(account, "AWS::AccountId")].join(":");
  return `arn:<AWS::Partition>:states:${at}:execution:${machine}:*`;
}

function named(value: string, pseudo: string): string {
  return Token.isUnresolved(value) ? `<${pseudo}>` : value;
}
