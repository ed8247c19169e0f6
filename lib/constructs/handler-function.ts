// One Lambda function per handler, each with a role and a log group of its own, so that each may do only what it is for.
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, type FunctionOptions, Runtime, Tracing } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { acknowledgeWildcard } from "./acknowledge-wildcard.ts";
import { type HandlerName, handlerCode } from "./handler-code.ts";
import type { SessionStore } from "./session-store.ts";

export type HandlerFunctionProps = {
  /** lambdas/`name`.ts */
  name: HandlerName;
  description: string;
  /** Path of the agent's module. */
  entry: string;
  /** Longest run, in seconds. */
  timeoutSeconds: number;
  memoryMb: number;
  logRetention: RetentionDays;
  removalPolicy: RemovalPolicy;
  /** Sessions that it reads and writes: BATON_TABLE and BATON_BLOBS. @default none */
  store?: SessionStore;
  /** Further variables. @default none */
  environment?: Record<string, string>;
  /** Gives the function its secrets without an SDK. @default none */
  paramsAndSecrets?: FunctionOptions["paramsAndSecrets"];
};

export class HandlerFunction extends Construct {
  readonly role: Role;
  readonly handler: NodejsFunction;

  constructor(scope: Construct, id: string, props: HandlerFunctionProps) {
    super(scope, id);
    const { name, store, logRetention, removalPolicy, paramsAndSecrets } = props;
    const logGroup = new LogGroup(this, "Logs", { retention: logRetention, removalPolicy });
    this.role = new Role(this, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    logGroup.grantWrite(this.role);
    store?.grantSessions(this.role);
    this.handler = new NodejsFunction(this, "Handler", {
      description: props.description,
      code: handlerCode(this, name, props.entry),
      handler: "index.handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMb,
      timeout: Duration.seconds(props.timeoutSeconds),
      tracing: Tracing.ACTIVE,
      role: this.role,
      logGroup,
      environment: {
        ...props.environment,
        ...(store ? { BATON_TABLE: store.table.tableName, BATON_BLOBS: store.blobs.bucketName } : {}),
      },
      ...(paramsAndSecrets ? { paramsAndSecrets } : {}),
    });
    acknowledgeWildcard(this.role, "*", "X-Ray takes segments without a resource.");
  }
}
