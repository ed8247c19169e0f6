// Stands in for the SDK's chain of credential providers, in bundles only (lib/constructs/bundling.ts). Lambda renews
// these variables with each new execution environment, which outlives no session of its role.
import { requiredVariable } from "./environment.ts";

export const defaultProvider = () => async () => ({
  accessKeyId: requiredVariable("AWS_ACCESS_KEY_ID"),
  secretAccessKey: requiredVariable("AWS_SECRET_ACCESS_KEY"),
  ...(process.env.AWS_SESSION_TOKEN ? { sessionToken: process.env.AWS_SESSION_TOKEN } : {}),
});
