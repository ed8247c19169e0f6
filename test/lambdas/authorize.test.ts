import { describe, expect, it } from "vitest";
import { authorize } from "../../lambdas/authorize.ts";

const methodArn = "arn:aws:execute-api:eu-central-1:123456789012:abc123/prod/GET/v1/sessions/s1";
const handler = authorize(async (token) => (token === "good" ? { tenant: "acme", user: "ada" } : null));

describe("the authorizer", () => {
  it("allows every route of its API, since the answer is cached for all of them", async () => {
    expect(await handler({ authorizationToken: "Bearer good", methodArn })).toEqual({
      principalId: "acme/ada",
      policyDocument: {
        Version: "2012-10-17",
        Statement: [
          {
            Effect: "Allow",
            Action: "execute-api:Invoke",
            Resource: "arn:aws:execute-api:eu-central-1:123456789012:abc123/prod/*",
          },
        ],
      },
    });
  });

  it.each([undefined, "", "good", "Bearer", "Bearer bad", "Basic good", "Bearer good,Bearer bad"])(
    "answers 401 to %j",
    async (authorizationToken) => {
      await expect(handler({ authorizationToken, methodArn })).rejects.toThrow(/^Unauthorized$/);
    },
  );

  it("does not take a fault of the key set for a bad token", async () => {
    const broken = authorize(() => Promise.reject(new Error("keys cannot be read")));
    await expect(broken({ authorizationToken: "Bearer good", methodArn })).rejects.toThrow("keys cannot be read");
  });
});
