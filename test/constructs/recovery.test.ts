// What `new Agent(…)` makes for recovery, the sweeper and tasks that events start.
import { App, Stack, Validations } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Agent, type AgentProps } from "baton/cdk";
import { AwsSolutionsChecks } from "cdk-nag";
import { describe, expect, it } from "vitest";

const entry = "examples/aml-investigator/agent.ts";
const events = [{ source: "bank.alerts", detailType: "Alert raised", tenant: "acme" }];

function stackOf(props?: (stack: Stack) => Partial<AgentProps>) {
  const app = new App({ context: { "aws:cdk:bundling-stacks": [] } });
  const stack = new Stack(app, "Test");
  new Agent(stack, "Agent", { entry, ...props?.(stack) });
  return { app, stack };
}

type Resource = { Properties: Record<string, unknown> };
type Statement = { Sid?: string; Action: string | string[]; Resource: unknown };

const { stack } = stackOf((stack) => ({ events, alarmTopic: new Topic(stack, "Topic") }));
const template = Template.fromStack(stack);

/** Of the policies of one function's role: statement by its sid or action. */
function statementsOf(role: string): Record<string, Statement> {
  const policies = Object.entries(template.findResources("AWS::IAM::Policy")) as [string, Resource][];
  const mine = policies.filter(([id]) => id.startsWith(role));
  const all = mine.flatMap(([, { Properties }]) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement);
  return Object.fromEntries(all.map((statement) => [statement.Sid ?? [statement.Action].flat().join(), statement]));
}

const handler = (name: string) => ({ "Fn::GetAtt": [Match.stringLikeRegexp(`^Agent${name}Handler`), "Arn"] });
const deadLetters = (of: string) => ({ "Fn::GetAtt": [Match.stringLikeRegexp(`^Agent${of}DeadLetters`), "Arn"] });

describe("recovery on AWS", () => {
  it("hears of every execution of its machine that has ended, with a dead-letter queue", () => {
    template.hasResourceProperties("AWS::Events::Rule", {
      EventPattern: {
        source: ["aws.states"],
        "detail-type": ["Step Functions Execution Status Change"],
        detail: { stateMachineArn: [Match.anyValue()], status: ["FAILED", "TIMED_OUT", "ABORTED", "SUCCEEDED"] },
      },
      Targets: [
        Match.objectLike({
          Arn: handler("RecoveryRecover"),
          DeadLetterConfig: { Arn: deadLetters("Recovery") },
          RetryPolicy: { MaximumEventAgeInSeconds: 7200, MaximumRetryAttempts: 20 },
        }),
      ],
    });
  });

  it("sweeps every minute, by a role that may invoke this one function", () => {
    template.hasResourceProperties("AWS::Scheduler::Schedule", {
      ScheduleExpression: "rate(1 minute)",
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: Match.objectLike({
        Arn: handler("RecoverySweep"),
        DeadLetterConfig: { Arn: deadLetters("Recovery") },
        RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 },
      }),
    });
    expect(statementsOf("AgentRecoveryMinuteRole").Sweep).toMatchObject({
      Action: "lambda:InvokeFunction",
      Resource: { "Fn::GetAtt": [expect.stringMatching(/^AgentRecoverySweepHandler/), "Arn"] },
    });
  });

  it("lets only the sweeper look across sessions", () => {
    expect(statementsOf("AgentRecoverySweepRole")).toHaveProperty("Lookups");
    expect(statementsOf("AgentRecoveryRecoverRole")).not.toHaveProperty("Lookups");
    expect(statementsOf("AgentBatchHandlerRole")).not.toHaveProperty("Lookups");
  });

  it("lets recover, sweep and batch start executions of this machine, and no function scan the table (G6)", () => {
    for (const role of ["AgentRecoverySweepRole", "AgentRecoveryRecoverRole", "AgentBatchHandlerRole"]) {
      const statements = statementsOf(role);
      expect(statements.Start?.Action).toBe("states:StartExecution");
      expect(JSON.stringify(statements.Start?.Resource)).toContain(":stateMachine:");
      expect([statements.Sessions?.Action].flat().toSorted()).toEqual(
        ["DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"].map((action) => `dynamodb:${action}`),
      );
    }
    expect(JSON.stringify(template.toJSON())).not.toContain("dynamodb:Scan");
  });

  it("lets batch read no secret", () => {
    expect(JSON.stringify(statementsOf("AgentBatchHandlerRole"))).not.toContain("secretsmanager");
  });

  it("keeps what failed for good two weeks, encrypted, and says so", () => {
    const queues = Object.values(template.findResources("AWS::SQS::Queue")) as Resource[];
    expect(queues.map(({ Properties }) => Properties)).toEqual(
      [1, 2].map(() => ({ MessageRetentionPeriod: 1_209_600, SqsManagedSseEnabled: true })),
    );
    const alarms = Object.values(template.findResources("AWS::CloudWatch::Alarm")) as Resource[];
    const arrived = alarms.filter(({ Properties }) => Properties.MetricName === "ApproximateNumberOfMessagesVisible");
    expect(arrived).toHaveLength(2);
    for (const { Properties } of arrived) {
      expect(Properties).toMatchObject({ Threshold: 1, AlarmActions: [{ Ref: expect.stringMatching(/^Topic/) }] });
    }
    template.resourceCountIs("AWS::Lambda::EventInvokeConfig", 4);
    template.allResourcesProperties("AWS::Lambda::EventInvokeConfig", {
      DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
    });
  });
});

describe("events that start tasks", () => {
  it("carry the tenant that the stack names for them, not one of their own (G6)", () => {
    const rules = Object.values(template.findResources("AWS::Events::Rule")) as Resource[];
    const rule = rules.find(({ Properties }) => JSON.stringify(Properties.EventPattern).includes("bank.alerts"));
    expect(rule?.Properties.EventPattern).toEqual({ source: ["bank.alerts"], "detail-type": ["Alert raised"] });
    const [target] = (rule?.Properties.Targets ?? []) as {
      InputTransformer: { InputTemplate: string; InputPathsMap: object };
    }[];
    expect(target?.InputTransformer.InputTemplate).toContain('"tenant":"acme"');
    expect(Object.values(target?.InputTransformer.InputPathsMap ?? {}).toSorted()).toEqual([
      "$.detail",
      "$.detail-type",
      "$.id",
      "$.source",
    ]);
  });

  it("make no function and no rule when there are none", () => {
    const plain = Template.fromStack(stackOf().stack);
    // Recovery's and that of long-term memory.
    plain.resourceCountIs("AWS::Events::Rule", 2);
    plain.resourceCountIs("AWS::SQS::Queue", 1);
  });

  it("are refused with a tenant that cannot be one", () => {
    expect(() => stackOf(() => ({ events: [{ source: "a", detailType: "b", tenant: "a#b" }] }))).toThrow(
      'Agent.events: tenant "a#b" is not a plain word',
    );
  });
});

describe("cdk-nag", () => {
  it("finds nothing in recovery and batch", () => {
    const { app } = stackOf(() => ({ events }));
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).not.toThrow();
  });
});
