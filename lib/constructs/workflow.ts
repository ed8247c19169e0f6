// The state machine: the definition of lib/workflow with the functions' ARNs filled in, and a role that may invoke
// exactly these functions and start exactly this machine.
import { Aws, type RemovalPolicy } from "aws-cdk-lib";
import { Policy, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { DefinitionBody, LogLevel, StateMachine, StateMachineType } from "aws-cdk-lib/aws-stepfunctions";
import { Construct } from "constructs";
import { type StepName, stepNames } from "../steps/io.ts";
import { arnPlaceholders, stateMachineDefinition, substitutionOf } from "../workflow/definition.ts";
import { acknowledgeWildcard } from "./acknowledge-wildcard.ts";
import type { HandlerFunction } from "./handler-function.ts";

export type WorkflowProps = {
  /** Known beforehand, so that its own functions can be told of it. */
  name: string;
  steps: Record<StepName, HandlerFunction>;
  logRetention: RetentionDays;
  removalPolicy: RemovalPolicy;
};

export class Workflow extends Construct {
  readonly stateMachine: StateMachine;

  constructor(scope: Construct, id: string, props: WorkflowProps) {
    super(scope, id);
    const { name: stateMachineName, steps, logRetention, removalPolicy } = props;
    const arns = stepNames.map((name) => [name, steps[name].handler.functionArn] as const);
    const role = new Role(this, "Role", { assumedBy: new ServicePrincipal("states.amazonaws.com") });
    role.addToPolicy(
      new PolicyStatement({ sid: "Steps", actions: ["lambda:InvokeFunction"], resources: arns.map(([, arn]) => arn) }),
    );
    this.stateMachine = new StateMachine(this, "Machine", {
      stateMachineName,
      comment: "Baton: one execution per turn segment",
      definitionBody: DefinitionBody.fromString(JSON.stringify(stateMachineDefinition(arnPlaceholders, partition))),
      definitionSubstitutions: {
        Partition: Aws.PARTITION,
        ...Object.fromEntries(arns.map(([name, arn]) => [substitutionOf(name), arn])),
      },
      stateMachineType: StateMachineType.STANDARD,
      role,
      tracingEnabled: true,
      logs: {
        level: LogLevel.ALL,
        // Inputs hold ids only, but a task token is a secret (G20).
        includeExecutionData: false,
        destination: new LogGroup(this, "Logs", {
          // Under this prefix the log delivery's resource policy does not grow with each machine.
          logGroupName: `/aws/vendedlogs/states/${stateMachineName}`,
          retention: logRetention,
          removalPolicy,
        }),
      },
      removalPolicy,
    });
    // A policy of its own: in the role's default policy, which the machine waits for, it would be a circle.
    new Policy(this, "HandOver", {
      roles: [role],
      statements: [
        new PolicyStatement({
          sid: "HandOver",
          actions: ["states:StartExecution"],
          resources: [this.stateMachine.stateMachineArn],
        }),
      ],
    });
    acknowledgeWildcard(role, "*", "X-Ray and the delivery of logs take no resource.");
  }
}

/** Filled in by definitionSubstitutions, as the ARNs are. */
const partition = `\${Partition}`;
