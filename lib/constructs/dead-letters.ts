// Where events and runs end that failed for good, with an alarm: nothing is dropped unseen.
import { Duration, Validations } from "aws-cdk-lib";
import { Alarm, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

export type DeadLettersProps = {
  /** What is in the queue, for people. */
  description: string;
  /** Told when something arrives. @default nobody; the alarm can be seen in CloudWatch */
  topic?: ITopic;
};

export class DeadLetters extends Construct {
  readonly queue: Queue;
  readonly alarm: Alarm;

  constructor(scope: Construct, id: string, { description, topic }: DeadLettersProps) {
    super(scope, id);
    this.queue = new Queue(this, "Queue", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(this.queue).acknowledge({
      id: "AwsSolutions-SQS3",
      reason: "This is the dead-letter queue, of rules and functions.",
    });
    this.alarm = new Alarm(this, "Arrived", {
      metric: this.queue.metricApproximateNumberOfMessagesVisible({
        period: Duration.minutes(5),
        statistic: "Maximum",
      }),
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `Baton: ${description}`,
    });
    if (topic) this.alarm.addAlarmAction(new SnsAction(topic));
  }
}
