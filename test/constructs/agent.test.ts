// The template that `new Agent(…)` gives, without bundling (test/constructs/bundling.test.ts does that).
import { App, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Key } from "aws-cdk-lib/aws-kms";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { EmailIdentity } from "aws-cdk-lib/aws-ses";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Agent, type AgentProps } from "baton/cdk";
import { AwsSolutionsChecks } from "cdk-nag";
import { describe, expect, it } from "vitest";
import { indexes } from "../../lib/adapters/dynamodb-schema.ts";
import { stepNames } from "../../lib/steps/io.ts";
import { arnPlaceholders, stateMachineDefinition, substitutionOf } from "../../lib/workflow/definition.ts";
import { stepTable } from "../../lib/workflow/step-table.ts";

const entry = "examples/aml-investigator/agent.ts";

type Resource = { Type: string; Properties: Record<string, unknown>; DeletionPolicy?: string };
type Statement = { Sid?: string; Effect: string; Action: string | string[]; Resource: unknown };

/** A customer's key needs a stack that knows its region. */
const env = { account: "123456789012", region: "eu-central-1" };

function stackOf(props?: (stack: Stack) => Partial<AgentProps>) {
  const app = new App({ context: { "aws:cdk:bundling-stacks": [] } });
  const stack = new Stack(app, "Test", props ? { env } : {});
  const agent = new Agent(stack, "Agent", { entry, ...props?.(stack) });
  return { app, stack, agent };
}

function templateOf(props?: (stack: Stack) => Partial<AgentProps>): Template {
  return Template.fromStack(stackOf(props).stack);
}

const template = templateOf();

/** Without recovery, batch and memory, which recovery.test.ts is about. */
function resources(type: string, from = template): [string, Resource][] {
  const all = Object.entries(from.findResources(type)) as [string, Resource][];
  return all.filter(([id]) => !/^Agent(?:Recovery|Batch|Memory)/.test(id));
}

/** Every statement of every policy, with the logical id of its policy. */
function statements(from = template): { policy: string; statement: Statement }[] {
  return resources("AWS::IAM::Policy", from).flatMap(([policy, { Properties }]) =>
    (Properties.PolicyDocument as { Statement: Statement[] }).Statement.map((statement) => ({ policy, statement })),
  );
}

describe("the Agent construct", () => {
  it("needs its entry and nothing else", () => {
    const required: Pick<AgentProps, "entry"> = { entry };
    const onlyEntry: AgentProps = required;
    expect(
      () => new Agent(new Stack(new App({ context: { "aws:cdk:bundling-stacks": [] } })), "A", onlyEntry),
    ).not.toThrow();
  });

  it("refuses an entry that is not there, an option that it does not know, a variable of its own", () => {
    const refused = (props: object) => () => stackOf(() => props);
    expect(refused({ entry: "no/agent.ts" })).toThrow(/there is no file .*no\/agent\.ts/);
    expect(refused({ memory: 512 })).toThrow("Agent: unknown option memory");
    expect(refused({ environment: { BATON_TABLE: "x" } })).toThrow("BATON_TABLE is set by Baton");
  });

  it("gives Step Functions exactly the definition of lib/workflow", () => {
    const machines = resources("AWS::StepFunctions::StateMachine");
    expect(machines).toHaveLength(1);
    const properties = machines[0]?.[1].Properties ?? {};
    const text = properties.DefinitionString as string;
    expect(JSON.parse(text)).toEqual(stateMachineDefinition(arnPlaceholders, "$" + "{Partition}"));
    const substitutions = properties.DefinitionSubstitutions as Record<string, unknown>;
    expect(Object.keys(substitutions).sort()).toEqual(["Partition", ...stepNames.map(substitutionOf)].sort());
    const targets = stepNames.map((name) => JSON.stringify(substitutions[substitutionOf(name)]));
    expect(new Set(targets).size).toBe(stepNames.length);
    for (const name of stepNames) {
      expect(JSON.stringify(substitutions[substitutionOf(name)])).toContain(`Agent${stepTable[name].state}Handler`);
    }
  });

  it("logs executions without their data and traces them (G20)", () => {
    template.hasResourceProperties("AWS::StepFunctions::StateMachine", {
      LoggingConfiguration: { IncludeExecutionData: false, Level: "ALL" },
      TracingConfiguration: { Enabled: true },
      StateMachineType: "STANDARD",
    });
  });

  it("makes one arm64 function on Node 24 per step, with the step table's limits and its own role and log group", () => {
    const functions = resources("AWS::Lambda::Function").map(([, resource]) => resource.Properties);
    expect(functions.map((f) => f.Description).sort()).toEqual(
      stepNames.map((name) => `Baton: state ${stepTable[name].state}`).sort(),
    );
    for (const f of functions) {
      const spec = Object.values(stepTable).find(({ state }) => f.Description === `Baton: state ${state}`);
      expect(f).toMatchObject({
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
        Timeout: spec?.functionTimeoutSeconds,
        MemorySize: spec?.memoryMb,
        TracingConfig: { Mode: "Active" },
      });
    }
    const distinct = (pick: (f: Record<string, unknown>) => unknown) =>
      new Set(functions.map((f) => JSON.stringify(pick(f))));
    expect(distinct((f) => f.Role).size).toBe(stepNames.length);
    expect(distinct((f) => f.LoggingConfig).size).toBe(stepNames.length);
  });

  it("keeps the table with point-in-time recovery, TTL, indexes and protection", () => {
    template.hasResource("AWS::DynamoDB::GlobalTable", {
      DeletionPolicy: "Retain",
      Properties: Match.objectLike({
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: [
          { AttributeName: "pk", KeyType: "HASH" },
          { AttributeName: "sk", KeyType: "RANGE" },
        ],
        TimeToLiveSpecification: { AttributeName: "ttl", Enabled: true },
        GlobalSecondaryIndexes: Object.values(indexes).map((index) =>
          Match.objectLike({
            IndexName: index.name,
            KeySchema: [
              { AttributeName: index.partition, KeyType: "HASH" },
              { AttributeName: index.sort, KeyType: "RANGE" },
            ],
            Projection: { ProjectionType: "ALL" },
          }),
        ),
        Replicas: [
          Match.objectLike({
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
            DeletionProtectionEnabled: true,
          }),
        ],
      }),
    });
  });

  it("keeps blobs private, encrypted and behind TLS", () => {
    template.hasResource("AWS::S3::Bucket", {
      DeletionPolicy: "Retain",
      Properties: Match.objectLike({
        BucketEncryption: Match.anyValue(),
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      }),
    });
    template.hasResourceProperties("AWS::S3::BucketPolicy", {
      PolicyDocument: Match.objectLike({
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } }),
        ]),
      }),
    });
  });

  it("lets steps use five actions on the table, never Scan, never PartiQL (G6)", () => {
    const dynamo = statements().filter(({ statement }) =>
      [statement.Action].flat().some((a) => a.startsWith("dynamodb:")),
    );
    expect(dynamo).toHaveLength(stepNames.length);
    for (const { statement } of dynamo) {
      expect([statement.Action].flat().sort()).toEqual(
        ["DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"].map((action) => `dynamodb:${action}`),
      );
      expect(statement.Resource).toEqual({ "Fn::GetAtt": [expect.stringMatching(/^AgentStoreTable/), "Arn"] });
    }
  });

  it("has no wildcard action, and a wildcard resource only where AWS takes no other", () => {
    const wild = statements().filter(({ statement }) => JSON.stringify(statement).includes("*"));
    const actions = new Set(wild.flatMap(({ statement }) => [statement.Action].flat()));
    expect([...actions].filter((action) => action.includes("*"))).toEqual([]);
    const prefixes = new Set([...actions].map((action) => action.split(":")[0]));
    expect([...prefixes].sort()).toEqual(["logs", "s3", "xray"]);
    const logs = wild.filter(({ statement }) => [statement.Action].flat().some((action) => action.startsWith("logs:")));
    expect(logs.map(({ policy }) => policy)).toEqual([expect.stringMatching(/^AgentWorkflowRole/)]);
  });

  it("uses no managed policy", () => {
    for (const [, role] of resources("AWS::IAM::Role")) expect(role.Properties.ManagedPolicyArns).toBeUndefined();
  });

  it("lets the machine invoke its functions and start itself, in a policy of its own", () => {
    const invoke = statements().filter(({ statement }) => statement.Action === "lambda:InvokeFunction");
    expect(invoke).toHaveLength(1);
    expect(invoke[0]?.statement.Resource).toHaveLength(stepNames.length);
    const start = statements().filter(({ statement }) => statement.Action === "states:StartExecution");
    expect(start.map(({ policy, statement }) => [policy, statement.Resource])).toEqual([
      [expect.stringMatching(/^AgentWorkflowHandOver/), { Ref: expect.stringMatching(/^AgentWorkflowMachine/) }],
    ]);
  });

  it("lets each secret be read only by the functions that use it", () => {
    const readers = statements().filter(({ statement }) =>
      [statement.Action].flat().includes("secretsmanager:GetSecretValue"),
    );
    const secretOf = (step: string) =>
      readers
        .filter(({ policy }) => policy.startsWith(`Agent${step}RoleDefaultPolicy`))
        .map(({ statement }) => statement.Resource);
    expect(readers).toHaveLength(3);
    for (const step of ["Think", "Compact"]) {
      expect(secretOf(step)).toEqual([{ Ref: expect.stringMatching(/^AgentModelKey/) }]);
    }
    expect(secretOf("Ask")).toEqual([{ Ref: expect.stringMatching(/^AgentApprovalsSigningKey/) }]);
  });

  it("raises an alarm for executions that failed, timed out or were aborted", () => {
    const alarms = resources("AWS::CloudWatch::Alarm").map(([, alarm]) => alarm.Properties);
    expect(alarms.map((alarm) => alarm.MetricName).sort()).toEqual([
      "ExecutionsAborted",
      "ExecutionsFailed",
      "ExecutionsTimedOut",
    ]);
    for (const alarm of alarms) {
      expect(alarm).toMatchObject({ Threshold: 1, TreatMissingData: "notBreaching", Namespace: "AWS/States" });
    }
  });

  it("keeps log lines a month, every group with a retention", () => {
    const groups = resources("AWS::Logs::LogGroup");
    expect(groups).toHaveLength(stepNames.length + 1);
    for (const [, group] of groups) expect(group.Properties.RetentionInDays).toBe(30);
  });
});

describe("an option of the Agent construct", () => {
  it("sets what it says", () => {
    const changed = templateOf((stack) => ({
      encryptionKey: new Key(stack, "Key"),
      removalPolicy: RemovalPolicy.DESTROY,
      logRetention: RetentionDays.ONE_WEEK,
      memoryMb: { act: 2048 },
      environment: { LEDGER_URL: "https://ledger.example" },
      modelUrl: "https://models.example",
      modelKey: Secret.fromSecretNameV2(stack, "Given", "model-key"),
      alarmTopic: new Topic(stack, "Topic"),
      mail: {
        from: "Baton <baton@bank.example>",
        identity: EmailIdentity.fromEmailIdentityName(stack, "Sender", "bank.example"),
      },
      publicUrl: "https://agents.bank.example",
    }));
    changed.hasResourceProperties("AWS::Lambda::Function", {
      Description: "Baton: state Ask",
      Environment: {
        Variables: Match.objectLike({
          BATON_PUBLIC_URL: "https://agents.bank.example",
          BATON_MAIL_FROM: "Baton <baton@bank.example>",
          BATON_SIGNING_SECRET: { Ref: Match.stringLikeRegexp("^AgentApprovalsSigningKey") },
        }),
      },
    });
    const mailers = statements(changed).filter(({ statement }) => statement.Action === "ses:SendEmail");
    expect(mailers.map(({ policy }) => policy)).toEqual([expect.stringMatching(/^AgentAskRole/)]);
    expect(JSON.stringify(mailers[0]?.statement.Resource)).toContain("identity/bank.example");
    changed.hasResource("AWS::DynamoDB::GlobalTable", {
      DeletionPolicy: "Delete",
      Properties: Match.objectLike({
        SSESpecification: { SSEEnabled: true, SSEType: "KMS" },
        Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })],
      }),
    });
    changed.hasResourceProperties("AWS::S3::Bucket", {
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [
          Match.objectLike({ ServerSideEncryptionByDefault: Match.objectLike({ SSEAlgorithm: "aws:kms" }) }),
        ],
      },
    });
    changed.hasResourceProperties("AWS::Lambda::Function", { Description: "Baton: state Act", MemorySize: 2048 });
    changed.allResourcesProperties("AWS::Logs::LogGroup", { RetentionInDays: 7 });
    changed.allResourcesProperties("AWS::Lambda::Function", {
      Environment: { Variables: Match.objectLike({ LEDGER_URL: "https://ledger.example" }) },
    });
    changed.hasResourceProperties("AWS::Lambda::Function", {
      Description: "Baton: state Think",
      Environment: { Variables: Match.objectLike({ ANTHROPIC_BASE_URL: "https://models.example" }) },
    });
    changed.resourceCountIs("AWS::SecretsManager::Secret", 1);
    for (const [, alarm] of resources("AWS::CloudWatch::Alarm", changed)) {
      expect(alarm.Properties.AlarmActions).toEqual([{ Ref: expect.stringMatching(/^Topic/) }]);
    }
  });

  it("gives tools what they are granted, and no other step", () => {
    const { stack, agent } = stackOf();
    new Bucket(stack, "Reports").grantRead(agent.tools);
    const granted = statements(Template.fromStack(stack)).filter(({ statement }) =>
      JSON.stringify(statement.Resource).includes("Reports"),
    );
    expect(granted.map(({ policy }) => policy.replace(/RoleDefaultPolicy.*/, ""))).toEqual(["AgentAct"]);
  });
});

describe("cdk-nag", () => {
  it("finds nothing in the stack, as it is and with a customer's key", () => {
    for (const props of [
      undefined,
      (stack: Stack) => ({ encryptionKey: new Key(stack, "Key", { enableKeyRotation: true }) }),
    ]) {
      const { app } = stackOf(props);
      Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
      expect(() => app.synth()).not.toThrow();
    }
  });

  it("would say so: a bucket without TLS is refused", () => {
    const { app, stack } = stackOf();
    new Bucket(stack, "Open");
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).toThrow();
  });
});
