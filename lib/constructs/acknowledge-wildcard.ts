// cdk-nag reports each wildcard of a policy by itself; so is each acknowledged, with its reason.

import type { CfnElement } from "aws-cdk-lib";
import { Stack, Validations } from "aws-cdk-lib";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";

/** `resource` "*", or the objects of a bucket. */
export function acknowledgeWildcard(owner: Construct, resource: "*" | Bucket, reason: string): void {
  const finding = resource === "*" ? "*" : `<${logicalId(resource)}.Arn>/*`;
  Validations.of(owner).acknowledge({ id: `AwsSolutions-IAM5[Resource::${finding}]`, reason });
}

function logicalId(bucket: Bucket): string {
  return Stack.of(bucket).getLogicalId(bucket.node.defaultChild as CfnElement);
}
