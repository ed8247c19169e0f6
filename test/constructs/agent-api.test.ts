import { App, Stack, Validations } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Agent } from "baton/cdk";
import { AwsSolutionsChecks } from "cdk-nag";
import { describe, expect, it } from "vitest";

type Resource = { Properties: Record<string, unknown> };
type Statement = { Sid?: string; Action: string | string[]; Resource: unknown };

function agentApp(env?: { account: string; region: string }) {
  const app = new App({ context: { "aws:cdk:bundling-stacks": [] } });
  const stack = new Stack(app, "Test", { env });
  new Agent(stack, "Agent", {
    entry: "examples/aml-investigator/agent.ts",
    tokens: { jwksUrl: "https://id.example/keys", issuer: "https://id.example", audience: "baton", tenantClaim: "org" },
  });
  return { app, stack };
}

const template = Template.fromStack(agentApp().stack);

function propertiesOf(type: string): Record<string, unknown>[] {
  return Object.values(template.findResources(type) as Record<string, Resource>).map(({ Properties }) => Properties);
}

function policyOf(role: string): Statement[] {
  const found = Object.entries(template.findResources("AWS::IAM::Policy") as Record<string, Resource>);
  return found
    .filter(([id]) => id.startsWith(role))
    .flatMap(([, { Properties }]) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement);
}

describe("the HTTP API of the Agent construct", () => {
  it("streams every route from one function, for as long as that may run", () => {
    const methods = propertiesOf("AWS::ApiGateway::Method");
    expect(methods).toHaveLength(4);
    for (const method of methods) {
      expect(method.Integration).toMatchObject({
        ResponseTransferMode: "STREAM",
        TimeoutInMillis: 900_000,
        Type: "AWS_PROXY",
      });
      expect(JSON.stringify(method.Integration)).toContain("AgentApiAppHandler");
      expect(JSON.stringify(method.Integration)).toContain("response-streaming-invocations");
    }
    template.hasResourceProperties("AWS::Lambda::Function", { Description: "Baton: HTTP API", Timeout: 900 });
  });

  it("asks for a token on everything under /v1, and only there", () => {
    const authorization = propertiesOf("AWS::ApiGateway::Method").map((method) => method.AuthorizationType);
    expect(authorization.sort()).toEqual(["CUSTOM", "NONE", "NONE", "NONE"]);
    const paths = propertiesOf("AWS::ApiGateway::Resource").map((resource) => resource.PathPart);
    expect(paths.sort()).toEqual(["approve", "healthz", "openapi.json", "v1", "{proxy+}", "{proxy+}"]);
  });

  it("checks tokens by the rules it is given, in the authorizer and in the app (G6)", () => {
    for (const Description of ["Baton: HTTP API", "Baton: API authorizer"]) {
      template.hasResourceProperties("AWS::Lambda::Function", {
        Description,
        Environment: {
          Variables: Match.objectLike({
            BATON_JWKS_URL: "https://id.example/keys",
            BATON_JWT_ISSUER: "https://id.example",
            BATON_JWT_AUDIENCE: "baton",
            BATON_JWT_TENANT_CLAIM: "org",
          }),
        },
      });
    }
  });

  it("keeps the secrets of mailed links out of its logs (G20)", () => {
    const [stage] = propertiesOf("AWS::ApiGateway::Stage");
    const { Format } = (stage?.AccessLogSetting ?? {}) as { Format?: string };
    expect(Format).toContain("$context.resourcePath");
    expect(Format).not.toMatch(/\$context\.(path|protocol|identity|authorizer)/);
    expect(stage?.MethodSettings).toEqual([expect.not.objectContaining({ LoggingLevel: expect.anything() })]);
  });

  it("may start, release and look at executions of its machine and look sessions up, and no more", () => {
    const app = policyOf("AgentApiApp");
    expect(
      app
        .map(({ Sid }) => Sid)
        .filter(Boolean)
        .sort(),
    ).toEqual(["Blobs", "Look", "Lookups", "Release", "Sessions", "Start"]);
    const bySid = (sid: string) => app.find(({ Sid }) => Sid === sid);
    expect(bySid("Start")?.Action).toBe("states:StartExecution");
    expect(bySid("Look")?.Action).toBe("states:DescribeExecution");
    expect(bySid("Release")?.Action).toBe("states:SendTaskSuccess");
    expect(bySid("Lookups")?.Action).toBe("dynamodb:Query");
    expect(JSON.stringify(bySid("Lookups")?.Resource)).toContain("/index/due");
    const authorizer = policyOf("AgentApiAuthorizer").flatMap(({ Action }) => Action);
    expect(authorizer.filter((action) => !action.startsWith("logs:") && !action.startsWith("xray:"))).toEqual([]);
  });

  it("is clean for cdk-nag", () => {
    for (const env of [undefined, { account: "123456789012", region: "eu-central-1" }]) {
      const { app } = agentApp(env);
      Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
      expect(() => app.synth()).not.toThrow();
    }
  });

  it("is not made without rules for tokens", () => {
    const stack = new Stack(new App({ context: { "aws:cdk:bundling-stacks": [] } }));
    const agent = new Agent(stack, "Agent", { entry: "examples/aml-investigator/agent.ts" });
    expect(agent.api).toBeUndefined();
    Template.fromStack(stack).resourceCountIs("AWS::ApiGateway::RestApi", 0);
  });
});
