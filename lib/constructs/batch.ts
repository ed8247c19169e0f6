// Events of the account's bus that start tasks. The schedules of tasks need nothing here: the sweeper runs them.
import { Duration } from "aws-cdk-lib";
import { EventField, Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import { InvalidDefinition } from "../core/errors.ts";
import { tenantPattern } from "../core/ids.ts";
import { DeadLetters } from "./dead-letters.ts";
import { grantExecutions } from "./grant-executions.ts";
import { HandlerFunction, type HandlerFunctionProps } from "./handler-function.ts";

import { machineArn } from "./machine-arn.ts";
import type { SessionStore } from "./session-store.ts";

export type TaskEvent = {
  source: string;
  detailType: string;
  /** Whose tasks it starts: an event says nothing about tenants that could be trusted. */
  tenant: string;
};

export type BatchProps = Pick<HandlerFunctionProps, "entry" | "logRetention" | "removalPolicy" | "environment"> & {
  events: TaskEvent[];
  store: SessionStore;
  /** Name of the machine. */
  machine: string;
  /** Told when an event could not be taken. @default nobody; the alarm can be seen in CloudWatch */
  topic?: ITopic;
};

export class Batch extends Construct {
  readonly handler: HandlerFunction;
  readonly rules: Rule[];
  readonly deadLetters: DeadLetters;

  constructor(scope: Construct, id: string, { events, topic, machine, ...common }: BatchProps) {
    super(scope, id);
    const bad = events.find(({ tenant }) => !tenantPattern.test(tenant));
    if (bad) throw new InvalidDefinition(`Agent.events: tenant ${JSON.stringify(bad.tenant)} is not a plain word`);
    this.deadLetters = new DeadLetters(this, "DeadLetters", {
      description: "an event could not start its tasks; it is in the queue and may be sent again",
      topic,
    });
    this.handler = new HandlerFunction(this, "Handler", {
      ...common,
      environment: { ...common.environment, BATON_STATE_MACHINE: machineArn(this, machine) },
      name: "batch",
      description: "Baton: tasks started by events",
      timeoutSeconds: 60,
      memoryMb: 512,
    });
    grantExecutions(this.handler, machine);
    this.handler.handler.configureAsyncInvoke({
      maxEventAge: Duration.hours(6),
      retryAttempts: 2,
      onFailure: new SqsDestination(this.deadLetters.queue),
    });
    this.rules = events.map((event, index) => this.#rule(event, index));
  }

  #rule({ source, detailType, tenant }: TaskEvent, index: number): Rule {
    return new Rule(this, `Rule${index}`, {
      description: `Events that start tasks of ${tenant}`,
      eventPattern: { source: [source], detailType: [detailType] },
      targets: [
        new LambdaFunction(this.handler.handler, {
          deadLetterQueue: this.deadLetters.queue,
          // 24 h, what EventBridge tries by itself.
          maxEventAge: Duration.hours(24),
          event: RuleTargetInput.fromObject({
            tenant,
            id: EventField.eventId,
            source: EventField.source,
            detailType: EventField.detailType,
            detail: EventField.fromPath("$.detail"),
          }),
        }),
      ],
    });
  }
}
