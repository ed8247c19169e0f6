// The CDK app: deploys the flagship example. `npx cdk synth` needs neither credentials nor Docker.
import { fileURLToPath } from "node:url";
import { App, CfnOutput, Stack, Validations } from "aws-cdk-lib";
import { Agent } from "baton/cdk";
import { AwsSolutionsChecks } from "cdk-nag";

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));

// npx cdk deploy -c jwksUrl=https://… -c issuer=https://… makes the HTTP API for the tokens of that issuer.
const jwksUrl: unknown = app.node.tryGetContext("jwksUrl");
const issuer: unknown = app.node.tryGetContext("issuer");

const stack = new Stack(app, "Baton", { description: "Baton: a durable agent runtime with the AML investigator" });
const agent = new Agent(stack, "Agent", {
  entry: fileURLToPath(new URL("../examples/aml-investigator/agent.ts", import.meta.url)),
  ...(typeof jwksUrl === "string" ? { tokens: { jwksUrl, ...(typeof issuer === "string" ? { issuer } : {}) } } : {}),
});
if (agent.api) new CfnOutput(stack, "Url", { value: agent.api.url });
new CfnOutput(stack, "StateMachineArn", { value: agent.stateMachine.stateMachineArn });
new CfnOutput(stack, "TableName", { value: agent.store.table.tableName });
new CfnOutput(stack, "ModelKeyArn", {
  value: agent.modelKey.secretArn,
  description: "Put the model's API key in here",
});
