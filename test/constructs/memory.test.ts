// What `new Agent(…)` makes for long-term memory.
import { App, Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Agent } from "baton/cdk";
import { describe, expect, it } from "vitest";

const stack = new Stack(new App({ context: { "aws:cdk:bundling-stacks": [] } }), "Test");
new Agent(stack, "Agent", { entry: "examples/aml-investigator/agent.ts" });
const template = Template.fromStack(stack);

type Statement = { Sid?: string; Action: string | string[]; Resource: unknown };

function statementsOf(role: string, from = template): Statement[] {
  return Object.entries(from.findResources("AWS::IAM::Policy"))
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

describe("embeddings on AWS", () => {
  const titan = "amazon.titan-embed-text-v2:0";
  const stackWith = (embeddings: string) => {
    const own = new Stack(new App({ context: { "aws:cdk:bundling-stacks": [] } }), "Test");
    new Agent(own, "Agent", { entry: "examples/aml-investigator/agent.ts", embeddings });
    return Template.fromStack(own);
  };
  const variable = (from: Template) =>
    Object.entries(from.findResources("AWS::Lambda::Function"))
      .filter(([, { Properties }]) => Properties.Environment?.Variables?.BATON_EMBEDDINGS_MODEL === titan)
      .map(([id]) => id.replace(/Handler.*$/, ""))
      .toSorted();
  const allowed = (from: Template) =>
    Object.entries(from.findResources("AWS::IAM::Policy")).flatMap(([id, { Properties }]) =>
      (Properties.PolicyDocument.Statement as Statement[])
        .filter(({ Action }) => JSON.stringify(Action).includes("bedrock"))
        .map((statement) => ({ role: id.replace(/Role.*$/, ""), ...statement })),
    );

  it("are not there unless they are asked for", () => {
    expect([variable(template), allowed(template)]).toEqual([[], []]);
  });

  it("may be made by Think and by long-term memory, with that one model of the stack's region", () => {
    const withTitan = stackWith(titan);
    expect(variable(withTitan)).toEqual(["AgentMemoryRemember", "AgentThink"]);
    const statement = {
      Sid: "Embeddings",
      Effect: "Allow",
      Action: "bedrock:InvokeModel",
      Resource: {
        "Fn::Join": [
          "",
          ["arn:", { Ref: "AWS::Partition" }, ":bedrock:", { Ref: "AWS::Region" }, `::foundation-model/${titan}`],
        ],
      },
    };
    expect(allowed(withTitan).toSorted((a, b) => (a.role < b.role ? -1 : 1))).toEqual([
      { role: "AgentMemoryRemember", ...statement },
      { role: "AgentThink", ...statement },
    ]);
  });

  it("are refused for a model that speaks another form", () => {
    expect(() => stackWith("cohere.embed-multilingual-v3")).toThrow(
      'Agent.embeddings: "cohere.embed-multilingual-v3" is not known here',
    );
  });
});
