// One Lambda function per step, each with a role and a log group of its own, so that each may do only what its step does.
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, type FunctionOptions, Runtime, Tracing } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { StepName } from "../steps/io.ts";
import { stepTable } from "../workflow/step-table.ts";
import { acknowledgeWildcard } from "./acknowledge-wildcard.ts";
import { handlerCode } from "./handler-code.ts";
import type { SessionStore } from "./session-store.ts";

export type StepFunctionProps = {
  step: StepName;
  /** Path of the agent's module. */
  entry: string;
  store: SessionStore;
  logRetention: RetentionDays;
  removalPolicy: RemovalPolicy;
  /** @default what the step table says */
  memoryMb?: number;
  /** Variables besides BATON_TABLE and BATON_BLOBS. @default none */
  environment?: Record<string, string>;
  /** Gives the function its secrets without an SDK. @default none */
  paramsAndSecrets?: FunctionOptions["paramsAndSecrets"];
};

export class StepFunction extends Construct {
  readonly role: Role;
  readonly handler: NodejsFunction;

  constructor(scope: Construct, id: string, props: StepFunctionProps) {
    super(scope, id);
    const { step, store, logRetention, removalPolicy, paramsAndSecrets } = props;
    const spec = stepTable[step];
    const logGroup = new LogGroup(this, "Logs", { retention: logRetention, removalPolicy });
    this.role = new Role(this, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    logGroup.grantWrite(this.role);
    store.grantSessions(this.role);
    this.handler = new NodejsFunction(this, "Handler", {
      description: `Baton: state ${spec.state}`,
      code: handlerCode(this, step, props.entry),
      handler: "index.handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMb ?? spec.memoryMb,
      timeout: Duration.seconds(spec.functionTimeoutSeconds),
      tracing: Tracing.ACTIVE,
      role: this.role,
      logGroup,
      environment: {
        ...props.environment,
        BATON_TABLE: store.table.tableName,
        BATON_BLOBS: store.blobs.bucketName,
      },
      ...(paramsAndSecrets ? { paramsAndSecrets } : {}),
    });
    acknowledgeWildcard(this.role, "*", "X-Ray takes segments without a resource.");
  }
}
