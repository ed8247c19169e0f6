// The CDK app: deploys the flagship example. `npx cdk synth` needs neither credentials nor Docker.
import { fileURLToPath } from "node:url";
import { App, CfnOutput, Stack, Validations } from "aws-cdk-lib";
import { Agent } from "baton/cdk";
import { AwsSolutionsChecks } from "cdk-nag";

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));

const stack = new Stack(app, "Baton", { description: "Baton: a durable agent runtime with the AML investigator" });
const agent = new Agent(stack, "Agent", {
  entry: fileURLToPath(new URL("../examples/aml-investigator/agent.ts", import.meta.url)),
});
new CfnOutput(stack, "StateMachineArn", { value: agent.stateMachine.stateMachineArn });
new CfnOutput(stack, "TableName", { value: agent.store.table.tableName });
new CfnOutput(stack, "ModelKeyArn", {
  value: agent.modelKey.secretArn,
  description: "Put the model's API key in here",
});
