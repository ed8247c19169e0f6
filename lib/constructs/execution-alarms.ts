// Alarms on executions that did not succeed. Recovery goes on by itself; these tell people that it had to.
import { Duration } from "aws-cdk-lib";
import { Alarm, type Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { IStateMachine } from "aws-cdk-lib/aws-stepfunctions";
import { Construct } from "constructs";

export type ExecutionAlarmsProps = {
  stateMachine: IStateMachine;
  /** Told when an alarm goes off. @default nobody; the alarms can be seen in CloudWatch */
  topic?: ITopic;
};

export class ExecutionAlarms extends Construct {
  readonly alarms: Alarm[];

  constructor(scope: Construct, id: string, { stateMachine, topic }: ExecutionAlarmsProps) {
    super(scope, id);
    const period = Duration.minutes(5);
    const metrics: Record<string, Metric> = {
      Failed: stateMachine.metricFailed({ period, statistic: "Sum" }),
      TimedOut: stateMachine.metricTimedOut({ period, statistic: "Sum" }),
      Aborted: stateMachine.metricAborted({ period, statistic: "Sum" }),
    };
    this.alarms = Object.entries(metrics).map(([name, metric]) => {
      const alarm = new Alarm(this, name, {
        metric,
        threshold: 1,
        evaluationPeriods: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
        alarmDescription: `Baton: a turn's execution has ended as ${name}; its session goes on from its last checkpoint`,
      });
      if (topic) alarm.addAlarmAction(new SnsAction(topic));
      return alarm;
    });
  }
}
