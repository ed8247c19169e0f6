// Who calls, from the verified token: for the authorizer and, once more, for the API itself.
import type { Authenticate } from "../lib/api/api-context.ts";
import { createJwtAuthenticator } from "../lib/api/dev-token.ts";
import { requiredVariable } from "./environment.ts";

/** Reads BATON_JWKS_URL and, where set, BATON_JWT_ISSUER, _AUDIENCE, _TENANT_CLAIM, _USER_CLAIM. */
export function wireAuth(env: NodeJS.ProcessEnv = process.env): Authenticate {
  return createJwtAuthenticator({
    jwks: new URL(requiredVariable("BATON_JWKS_URL")),
    ...(env.BATON_JWT_ISSUER ? { issuer: env.BATON_JWT_ISSUER } : {}),
    ...(env.BATON_JWT_AUDIENCE ? { audience: env.BATON_JWT_AUDIENCE } : {}),
    ...(env.BATON_JWT_TENANT_CLAIM ? { tenantClaim: env.BATON_JWT_TENANT_CLAIM } : {}),
    ...(env.BATON_JWT_USER_CLAIM ? { userClaim: env.BATON_JWT_USER_CLAIM } : {}),
  });
}
