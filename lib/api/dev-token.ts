// Tokens: signing for the embedded runtime, checking for every runtime (a secret there, a key set on AWS). The
// tenant comes from the token alone and must be a plain word, since every partition key starts with it.
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  SignJWT,
} from "jose";
import { AuthUnavailable, InvalidInput } from "../core/errors.ts";
import { tenantPattern } from "../core/ids.ts";
import type { Authenticate, Caller } from "./api-context.ts";
import { isName } from "./input-schemas.ts";

export type DevTokenOptions = {
  /** At least 32 bytes (HS256, RFC 7518 section 3.2). */
  secret: Uint8Array | string;
  tenant: string;
  user: string;
  scopes?: string[];
  /** @default "365d" */
  expiresIn?: string;
  /** Epoch milliseconds of issue. @default the machine's clock */
  now?: number;
};

/** An HS256 token with the claims `tenant`, `sub` and `scope`. */
export function signDevToken(options: DevTokenOptions): Promise<string> {
  const { tenant, user, scopes, now = Date.now() } = options;
  if (!tenantPattern.test(tenant)) throw new InvalidInput(`tenant ${JSON.stringify(tenant)} is not a plain word`);
  return new SignJWT({ tenant, ...(scopes ? { scope: scopes.join(" ") } : {}) })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(user)
    .setIssuedAt(new Date(now))
    .setExpirationTime(new Date(now + daysMs(options.expiresIn ?? "365d")))
    .sign(keyOf(options.secret));
}

export type JwtOptions = {
  /** HS256 with this secret … */
  secret?: Uint8Array | string;
  /** … or public keys: the set itself, or where it is. Exactly one of the two. */
  jwks?: JSONWebKeySet | URL;
  issuer?: string;
  audience?: string;
  /** @default "tenant" */
  tenantClaim?: string;
  /** @default "sub" */
  userClaim?: string;
  /** Epoch milliseconds. @default the machine's clock */
  now?: () => number;
};

const publicKeyAlgorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
const clockToleranceSeconds = 5;

export function createJwtAuthenticator(options: JwtOptions): Authenticate {
  const { secret, jwks, tenantClaim = "tenant", userClaim = "sub", now = () => Date.now() } = options;
  if ((secret === undefined) === (jwks === undefined)) throw new InvalidInput("give either secret or jwks");
  const verify = secret ? verifyWithSecret(secret) : verifyWithKeys(jwks ?? { keys: [] });
  return async (token) => {
    const rules = {
      currentDate: new Date(now()),
      clockTolerance: clockToleranceSeconds,
      requiredClaims: ["exp"],
      ...(options.issuer === undefined ? {} : { issuer: options.issuer }),
      ...(options.audience === undefined ? {} : { audience: options.audience }),
    };
    try {
      return callerOf(await verify(token, rules), tenantClaim, userClaim);
    } catch (cause) {
      if (isAboutTheToken(cause)) return null;
      throw new AuthUnavailable("tokens cannot be checked at the moment", { cause });
    }
  };
}

type Verify = (token: string, rules: JWTVerifyOptions) => Promise<JWTPayload>;

function verifyWithSecret(text: Uint8Array | string): Verify {
  const secret = keyOf(text);
  return async (token, rules) => (await jwtVerify(token, secret, { ...rules, algorithms: ["HS256"] })).payload;
}

function verifyWithKeys(jwks: JSONWebKeySet | URL): Verify {
  const keys = jwks instanceof URL ? createRemoteJWKSet(jwks) : createLocalJWKSet(jwks);
  return async (token, rules) => (await jwtVerify(token, keys, { ...rules, algorithms: publicKeyAlgorithms })).payload;
}

function callerOf(payload: JWTPayload, tenantClaim: string, userClaim: string): Caller | null {
  const [tenant, user] = [payload[tenantClaim], payload[userClaim]];
  if (typeof tenant !== "string" || !tenantPattern.test(tenant)) return null;
  if (typeof user !== "string" || !isName(user)) return null;
  const scopes = typeof payload.scope === "string" ? payload.scope.split(" ").filter((word) => word !== "") : undefined;
  // An address that its holder has not proved is nobody's.
  const email = typeof payload.email === "string" && payload.email_verified !== false ? payload.email : undefined;
  return { tenant, user, ...(email ? { email } : {}), ...(scopes ? { scopes } : {}) };
}

/** Everything else says that the key set could not be had, which is not the caller's fault. */
function isAboutTheToken(error: unknown): boolean {
  return (
    error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout) && error.code !== "ERR_JOSE_GENERIC"
  );
}

function keyOf(secret: Uint8Array | string): Uint8Array {
  const key = typeof secret === "string" ? new TextEncoder().encode(secret) : secret;
  if (key.byteLength < 32) throw new InvalidInput("the secret of tokens must have at least 32 bytes");
  return key;
}

function daysMs(text: string): number {
  const days = /^(\d+)d$/.exec(text)?.[1];
  if (!days) throw new InvalidInput(`expiresIn: write days, as in "365d"; got ${JSON.stringify(text)}`);
  return Number(days) * 86_400_000;
}
