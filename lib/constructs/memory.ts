// Long-term memory: a function that learns from turns after their execution has ended. It asks a model, so it is none of
// recovery's; agents without a memory cost one short run of it a turn.
import { Duration } from "aws-cdk-lib";
import { Rule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { DeadLetters } from "./dead-letters.ts";
import { endedExecutions } from "./ended-executions.ts";
import { HandlerFunction, type HandlerFunctionProps } from "./handler-function.ts";
import { machineArn } from "./machine-arn.ts";
import type { SessionStore } from "./session-store.ts";

export type MemoryProps = Pick<
  HandlerFunctionProps,
  "entry" | "logRetention" | "removalPolicy" | "environment" | "paramsAndSecrets"
> & {
  store: SessionStore;
  /** Name of the machine. */
  machine: string;
  /** Holds the model's API key; BATON_MODEL_SECRET in `environment` names it. */
  modelKey: ISecret;
  /** Where runs and events end that failed for good. */
  deadLetters: DeadLetters;
};

export class Memory extends Construct {
  readonly remember: HandlerFunction;

  constructor(scope: Construct, id: string, { machine, modelKey, deadLetters, ...common }: MemoryProps) {
    super(scope, id);
    const { queue } = deadLetters;
    this.remember = new HandlerFunction(this, "Remember", {
      ...common,
      name: "remember",
      description: "Baton: long-term memory",
      timeoutSeconds: 300,
      memoryMb: 512,
    });
    const { handler, role } = this.remember;
    common.store.grantLookups(role);
    modelKey.grantRead(role);
    handler.configureAsyncInvoke({
      maxEventAge: Duration.hours(1),
      // The schedule is the next try.
      retryAttempts: 0,
      onFailure: new SqsDestination(queue),
    });
    new Rule(this, "Ended", {
      description: "Executions of Baton that have ended, for long-term memory",
      eventPattern: endedExecutions(machineArn(this, machine)),
      targets: [
        new LambdaFunction(handler, { deadLetterQueue: queue, retryAttempts: 2, maxEventAge: Duration.hours(1) }),
      ],
    });
    this.#often(queue);
  }

  /** The construct of CDK would let the role invoke every version, too. */
  #often(queue: Queue): void {
    const { functionArn } = this.remember.handler;
    const role = new Role(this, "OftenRole", { assumedBy: new ServicePrincipal("scheduler.amazonaws.com") });
    role.addToPolicy(
      new PolicyStatement({ sid: "Remember", actions: ["lambda:InvokeFunction"], resources: [functionArn] }),
    );
    queue.grantSendMessages(role);
    new CfnSchedule(this, "Often", {
      description: "Baton: turns that long-term memory has missed",
      scheduleExpression: "rate(5 minutes)",
      flexibleTimeWindow: { mode: "OFF" },
      target: {
        arn: functionArn,
        roleArn: role.roleArn,
        // Without one the Scheduler sends a text of its own.
        input: JSON.stringify({ sweep: true }),
        deadLetterConfig: { arn: queue.queueArn },
        retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: 300 },
      },
    });
  }
}
