// The HTTP API: a regional REST API, since only that streams, in front of one function that hosts the whole app.
import { Duration, Stack, Validations } from "aws-cdk-lib";
import {
  AccessLogField,
  AccessLogFormat,
  AuthorizationType,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  ResponseTransferMode,
  ResponseType,
  RestApi,
  TokenAuthorizer,
} from "aws-cdk-lib/aws-apigateway";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { grantExecutions } from "./grant-executions.ts";
import { HandlerFunction, type HandlerFunctionProps } from "./handler-function.ts";
import { machineArn } from "./machine-arn.ts";
import type { SessionStore } from "./session-store.ts";

export type TokenRules = {
  /** Where the public keys of the tokens are (JWKS, RFC 7517). */
  jwksUrl: string;
  /**
   * Issuer that a token must name.
   * @default any
   */
  issuer?: string;
  /**
   * Audience that a token must name.
   * @default any
   */
  audience?: string;
  /**
   * Claim that holds the tenant.
   * @default "tenant"
   */
  tenantClaim?: string;
  /**
   * Claim that holds the user.
   * @default "sub"
   */
  userClaim?: string;
};

export type AgentApiProps = Pick<
  HandlerFunctionProps,
  "entry" | "logRetention" | "removalPolicy" | "environment" | "paramsAndSecrets"
> & {
  tokens: TokenRules;
  store: SessionStore;
  /** Name of the state machine, which is made elsewhere. */
  machine: string;
};

/** The longest that a streamed response may last (API Gateway quotas); a client then reconnects with its last event id. */
const streamSeconds = 900;

const stageName = "prod";

/** Paths that need no token: what a mailed link opens, and what says nothing about anyone. */
const openPaths = ["approve/{proxy+}", "healthz", "openapi.json"];

export class AgentApi extends Construct {
  readonly restApi: RestApi;
  /** Without a slash at its end. */
  readonly url: string;
  readonly handler: HandlerFunction;
  readonly authorizer: HandlerFunction;

  constructor(scope: Construct, id: string, props: AgentApiProps) {
    super(scope, id);
    const { store, machine, logRetention, removalPolicy, entry, paramsAndSecrets } = props;
    const tokens = tokenVariables(props.tokens);
    const common = { entry, logRetention, removalPolicy };
    this.handler = new HandlerFunction(this, "App", {
      ...common,
      name: "api",
      description: "Baton: HTTP API",
      timeoutSeconds: streamSeconds,
      memoryMb: 1024,
      store,
      environment: { ...props.environment, ...tokens, BATON_STATE_MACHINE: machineArn(this, machine) },
      ...(paramsAndSecrets ? { paramsAndSecrets } : {}),
    });
    store.grantLookups(this.handler.role);
    grantExecutions(this.handler, machine);
    this.authorizer = new HandlerFunction(this, "Authorizer", {
      ...common,
      name: "authorizer",
      description: "Baton: API authorizer",
      timeoutSeconds: 10,
      memoryMb: 256,
      environment: tokens,
    });
    this.restApi = this.#restApi(props);
    this.#routes();
    // Not restApi.url, which waits for the deployment and so for the very functions that are told of it.
    const { region, urlSuffix } = Stack.of(this);
    this.url = `https://${this.restApi.restApiId}.execute-api.${region}.${urlSuffix}/${stageName}`;
  }

  #restApi({ logRetention, removalPolicy }: AgentApiProps): RestApi {
    const api = new RestApi(this, "Rest", {
      description: "Baton",
      endpointTypes: [EndpointType.REGIONAL],
      cloudWatchRole: false,
      deployOptions: {
        stageName,
        tracingEnabled: true,
        throttlingRateLimit: 100,
        throttlingBurstLimit: 200,
        accessLogDestination: new LogGroupLogDestination(
          new LogGroup(this, "AccessLogs", { retention: logRetention, removalPolicy }),
        ),
        // The resource, not the path: the path of a mailed link holds its secret (G20).
        accessLogFormat: AccessLogFormat.custom(
          JSON.stringify({
            requestId: AccessLogField.contextRequestId(),
            at: AccessLogField.contextRequestTime(),
            method: AccessLogField.contextHttpMethod(),
            resource: AccessLogField.contextResourcePath(),
            status: AccessLogField.contextStatus(),
            latencyMs: AccessLogField.contextResponseLatency(),
          }),
        ),
      },
    });
    api.addGatewayResponse("Unauthorized", {
      type: ResponseType.UNAUTHORIZED,
      statusCode: "401",
      responseHeaders: { "WWW-Authenticate": "'Bearer realm=\"baton\"'" },
      templates: { "application/problem+json": problem(401, "Unauthenticated", "auth.required") },
    });
    Validations.of(api).acknowledge(
      {
        id: "AwsSolutions-APIG2",
        reason: "The app validates every request against its schemas and answers with problems.",
      },
      { id: "AwsSolutions-APIG3", reason: "Whether a web application firewall is put in front is the owner's choice." },
      {
        id: "AwsSolutions-APIG6",
        reason: "Execution logs hold the path, and the path of a mailed link holds its secret.",
      },
    );
    return api;
  }

  #routes(): void {
    const integration = new LambdaIntegration(this.handler.handler, {
      responseTransferMode: ResponseTransferMode.STREAM,
      timeout: Duration.seconds(streamSeconds),
    });
    const authorizer = new TokenAuthorizer(this, "Tokens", {
      handler: this.authorizer.handler,
      resultsCacheTtl: Duration.minutes(5),
      validationRegex: "^[Bb]earer +[^ ,]+$",
    });
    const { root } = this.restApi;
    root.addResource("v1").addResource("{proxy+}").addMethod("ANY", integration, {
      authorizer,
      authorizationType: AuthorizationType.CUSTOM,
    });
    for (const path of openPaths) {
      const method = root.resourceForPath(path).addMethod("ANY", integration);
      Validations.of(method).acknowledge({
        id: "AwsSolutions-APIG4",
        reason:
          "A mailed link is opened without a token, its secret is checked by the app; the rest says nothing about anyone.",
      });
    }
    Validations.of(this.restApi).acknowledge({
      id: "AwsSolutions-COG4",
      reason: "Tokens are those of any issuer with a key set, checked by the authorizer and by the app.",
    });
  }
}

function tokenVariables({ jwksUrl, issuer, audience, tenantClaim, userClaim }: TokenRules): Record<string, string> {
  return {
    BATON_JWKS_URL: jwksUrl,
    ...(issuer ? { BATON_JWT_ISSUER: issuer } : {}),
    ...(audience ? { BATON_JWT_AUDIENCE: audience } : {}),
    ...(tenantClaim ? { BATON_JWT_TENANT_CLAIM: tenantClaim } : {}),
    ...(userClaim ? { BATON_JWT_USER_CLAIM: userClaim } : {}),
  };
}

function problem(status: number, title: string, code: string): string {
  return JSON.stringify({ type: `urn:baton:error:${code}`, title, status, code, detail: "send a valid token" });
}
