// Recovery lives outside the executions: a rule on their status runs `recover`, a schedule runs `sweep`, which also
// starts scheduled tasks and delivers answers. That rule is best effort, so the schedule finds what it missed.
import { Duration } from "aws-cdk-lib";
import { Rule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import { DeadLetters } from "./dead-letters.ts";
import { endedExecutions } from "./ended-executions.ts";
import { grantExecutions } from "./grant-executions.ts";
import { HandlerFunction, type HandlerFunctionProps } from "./handler-function.ts";

import { machineArn } from "./machine-arn.ts";
import type { SessionStore } from "./session-store.ts";

export type RecoveryProps = Pick<
  HandlerFunctionProps,
  "entry" | "logRetention" | "removalPolicy" | "environment" | "paramsAndSecrets"
> & {
  store: SessionStore;
  /** Name of the machine. */
  machine: string;
  /** Told when a recovery failed for good. @default nobody; the alarm can be seen in CloudWatch */
  topic?: ITopic;
};

export class Recovery extends Construct {
  readonly recover: HandlerFunction;
  readonly sweep: HandlerFunction;
  readonly deadLetters: DeadLetters;

  constructor(scope: Construct, id: string, { topic, machine, ...common }: RecoveryProps) {
    super(scope, id);
    this.deadLetters = new DeadLetters(this, "DeadLetters", {
      description: "an ended execution could not be looked after; the sweeper still does, if the cause passes",
      topic,
    });
    const environment = { ...common.environment, BATON_STATE_MACHINE: machineArn(this, machine) };
    this.recover = new HandlerFunction(this, "Recover", {
      ...common,
      environment,
      name: "recover",
      description: "Baton: recovery after an execution",
      timeoutSeconds: 60,
      memoryMb: 512,
    });
    this.sweep = new HandlerFunction(this, "Sweep", {
      ...common,
      environment,
      name: "sweep",
      description: "Baton: sweeper",
      // Longer than the interval: runs may overlap, and every action stands two of them.
      timeoutSeconds: 300,
      memoryMb: 512,
    });
    common.store.grantLookups(this.sweep.role);
    for (const handler of [this.recover, this.sweep]) {
      grantExecutions(handler, machine);
      handler.handler.configureAsyncInvoke({
        maxEventAge: Duration.hours(1),
        retryAttempts: 2,
        onFailure: new SqsDestination(this.deadLetters.queue),
      });
    }
    this.#listen(machineArn(this, machine));
    this.#everyMinute();
  }

  #listen(arn: string): void {
    const { queue } = this.deadLetters;
    new Rule(this, "Ended", {
      description: "Executions of Baton that have ended",
      eventPattern: endedExecutions(arn),
      targets: [
        new LambdaFunction(this.recover.handler, {
          deadLetterQueue: queue,
          retryAttempts: 20,
          maxEventAge: Duration.hours(2),
        }),
      ],
    });
  }

  /** The construct of CDK would let the role invoke every version, too. */
  #everyMinute(): void {
    const { queue } = this.deadLetters;
    const { functionArn } = this.sweep.handler;
    const role = new Role(this, "MinuteRole", { assumedBy: new ServicePrincipal("scheduler.amazonaws.com") });
    role.addToPolicy(
      new PolicyStatement({ sid: "Sweep", actions: ["lambda:InvokeFunction"], resources: [functionArn] }),
    );
    queue.grantSendMessages(role);
    new CfnSchedule(this, "Minute", {
      description: "Baton: whatever is due",
      scheduleExpression: "rate(1 minute)",
      flexibleTimeWindow: { mode: "OFF" },
      target: {
        arn: functionArn,
        roleArn: role.roleArn,
        deadLetterConfig: { arn: queue.queueArn },
        // The next minute is another try.
        retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: 60 },
      },
    });
  }
}
