// API Gateway's authorizer: a request without a valid token costs no run of the API.
import { authorize } from "./authorize.ts";
import { wireAuth } from "./wire-auth.ts";

export const handler = authorize(wireAuth());
