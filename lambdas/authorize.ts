// A token authorizer. Its answer is cached by token for all routes, so it speaks of all routes.
import type { Authenticate } from "../lib/api/api-context.ts";

type TokenEvent = { authorizationToken?: string; methodArn: string };

/** Throws "Unauthorized", the text that API Gateway turns into 401, for a token that is not valid. */
export function authorize(authenticate: Authenticate) {
  return async ({ authorizationToken, methodArn }: TokenEvent) => {
    const token = /^Bearer +([^\s,]+)$/i.exec(authorizationToken?.trim() ?? "")?.[1];
    const caller = token ? await authenticate(token) : null;
    if (!caller) throw new Error("Unauthorized");
    const [api = "", stage = ""] = methodArn.split("/");
    return {
      principalId: `${caller.tenant}/${caller.user}`,
      policyDocument: {
        Version: "2012-10-17",
        Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource: `${api}/${stage}/*` }],
      },
    };
  };
}
