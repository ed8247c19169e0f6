// What `new Agent(…)` makes for long-term memory.
import { App, Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Agent } from "baton/cdk";
import { describe, expect, it } from "vitest";

const stack = new Stack(new App({ context: { "aws:cdk:bundling-stacks": [] } }), "Test");
new Agent(stack, "Agent", { entry: "examples/aml-investigator/agent.ts" });
const template = Template.fromStack(stack);

type Statement = { Sid?: string; Action: string | string[]; Resource: unknown };

function statementsOf(role: string): Statement[] {
  return Object.entries(template.findResources("AWS::IAM::Policy"))
    .filter(([id]) => id.startsWith(role))
    .flatMap(([, policy]) => policy.Properties.PolicyDocument.Statement as Statement[]);
}

const handler = { "Fn::GetAtt": [Match.stringLikeRegexp("^AgentMemoryRememberHandler"), "Arn"] };
const deadLetters = { "Fn::GetAtt": [Match.stringLikeRegexp("^AgentRecoveryDeadLetters"), "Arn"] };

describe("long-term memory on AWS", () => {
  it("hears of every execution that has ended, besides recovery", () => {
    template.hasResourceProperties("AWS::Events::Rule", {
      EventPattern: Match.objectLike({
        detail: { stateMachineArn: [Match.anyValue()], status: ["FAILED", "TIMED_OUT", "ABORTED", "SUCCEEDED"] },
      }),
      Targets: [Match.objectLike({ Arn: handler, DeadLetterConfig: { Arn: deadLetters } })],
    });
  });

  it("looks every five minutes for what it missed, by a role that may invoke this one function", () => {
    template.hasResourceProperties("AWS::Scheduler::Schedule", {
      ScheduleExpression: "rate(5 minutes)",
      Target: Match.objectLike({ Arn: handler, Input: '{"sweep":true}', DeadLetterConfig: { Arn: deadLetters } }),
    });
    const invoke = statementsOf("AgentMemoryOftenRole").find(({ Sid }) => Sid === "Remember");
    expect(invoke).toMatchObject({
      Action: "lambda:InvokeFunction",
      Resource: { "Fn::GetAtt": [expect.stringMatching(/^AgentMemoryRememberHandler/), "Arn"] },
    });
  });

  it("may read sessions, the model's key and the index of what is due, and starts nothing (G6)", () => {
    const statements = statementsOf("AgentMemoryRememberRole");
    const actions = statements.flatMap(({ Action }) => Action);
    expect(statements.map(({ Sid }) => Sid)).toContain("Lookups");
    expect(actions).toContain("secretsmanager:GetSecretValue");
    expect(actions.filter((action) => action.startsWith("states:") || action === "dynamodb:Scan")).toEqual([]);
  });
});
