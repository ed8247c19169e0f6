// What every route module is given. A module is one function `(app, context) => void`, so that an area of the API
// is one file and can be mounted from elsewhere (createApi's `routes`).
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Deps } from "../steps/deps.ts";

/** Who calls: only ever taken from the verified token. */
export type Caller = {
  tenant: string;
  user: string;
  /** Mail address of the signed-in person, when the issuer vouches for it: who decides on approvals. */
  email?: string;
  scopes?: string[];
};

/**
 * The caller a bearer token stands for; null when it is not valid. Throws a `Transient` when it cannot be told now.
 */
export type Authenticate = (token: string) => Promise<Caller | null>;

export type ApiInfo = {
  /** Of this release. */
  version: string;
  /** The model in use, for people: "demo", "anthropic". */
  model: string;
  [fact: string]: string | number | boolean;
};

export type ApiLimits = {
  /** Bytes of a body without its images. @default 1 MB */
  textBytes: number;
  /** Bytes of a whole body. @default 8 MB */
  bodyBytes: number;
};

export const defaultApiLimits: ApiLimits = { textBytes: 1_000_000, bodyBytes: 8_000_000 };

export type ApiEnv = { Variables: { caller: Caller } };
export type ApiApp = OpenAPIHono<ApiEnv>;
export type ApiContext = { deps: Deps; info: ApiInfo; limits: ApiLimits };
export type RouteModule = (app: ApiApp, context: ApiContext) => void;
