// The right to make embeddings with one model of Bedrock.
import { Stack } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";

/** A model of Amazon belongs to no account: its ARN has none. */
export function grantEmbeddings(role: Role, model: string): void {
  const { partition, region } = Stack.of(role);
  role.addToPolicy(
    new PolicyStatement({
      sid: "Embeddings",
      actions: ["bedrock:InvokeModel"],
      resources: [`arn:${partition}:bedrock:${region}::foundation-model/${model}`],
    }),
  );
}
