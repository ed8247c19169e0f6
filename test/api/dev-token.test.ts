import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { createJwtAuthenticator, signDevToken } from "../../lib/api/dev-token.ts";
import { apiFixture } from "./api-fixture.ts";

const secret = "0123456789abcdef0123456789abcdef";
const now = Date.parse("2026-05-05T14:30:22.000Z");
const key = new TextEncoder().encode(secret);

function signed(claims: Record<string, unknown>, options: { alg?: string; key?: Uint8Array } = {}) {
  return new SignJWT({ exp: now / 1000 + 60, ...claims })
    .setProtectedHeader({ alg: options.alg ?? "HS256" })
    .sign(options.key ?? key);
}

describe("dev tokens", () => {
  it("carry tenant and user, and expire", async () => {
    const token = await signDevToken({ secret, tenant: "dev", user: "you", scopes: ["a", "b"], expiresIn: "2d", now });
    const at = (days: number) => createJwtAuthenticator({ secret, now: () => now + days * 86_400_000 })(token);
    expect(await at(0)).toEqual({ tenant: "dev", user: "you", scopes: ["a", "b"] });
    expect(await at(1.9)).not.toBeNull();
    expect(await at(2.1)).toBeNull();
  });

  it("refuse a tenant that is not a plain word, and a short secret", async () => {
    await expect(async () => signDevToken({ secret, tenant: "a#b", user: "you", now })).rejects.toThrow("plain word");
    await expect(async () => signDevToken({ secret: "short", tenant: "a", user: "you", now })).rejects.toThrow(
      "32 bytes",
    );
  });
});

describe("the JWT authenticator", () => {
  const authenticate = createJwtAuthenticator({
    secret,
    issuer: "https://idp.example",
    audience: "baton",
    now: () => now,
  });
  const good = { iss: "https://idp.example", aud: "baton", sub: "ann", tenant: "acme" };

  it("takes a token with the right issuer, audience and claims", async () => {
    expect(await authenticate(await signed(good))).toEqual({ tenant: "acme", user: "ann" });
  });

  it.each([
    ["another issuer", { ...good, iss: "https://evil.example" }],
    ["another audience", { ...good, aud: "other" }],
    ["no tenant", { ...good, tenant: undefined }],
    ["a tenant that reaches into another key (G6)", { ...good, tenant: "acme#key" }],
    ["a tenant that is a list", { ...good, tenant: ["acme"] }],
    ["no user", { ...good, sub: undefined }],
    ["an empty user", { ...good, sub: "" }],
    ["no expiry", { ...good, exp: undefined }],
    ["an old expiry", { ...good, exp: now / 1000 - 60 }],
    ["a time before it is valid", { ...good, nbf: now / 1000 + 600 }],
  ])("refuses %s", async (_what, claims) => {
    expect(await authenticate(await signed(claims))).toBeNull();
  });

  it("refuses another key, another algorithm, none, and garbage", async () => {
    const other = new TextEncoder().encode("x".repeat(64));
    expect(await authenticate(await signed(good, { key: other }))).toBeNull();
    expect(await authenticate(await signed(good, { alg: "HS512", key: other }))).toBeNull();
    const [, payload] = (await signed(good)).split(".");
    const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.`;
    for (const token of [none, "", "a", "a.b", "a.b.c", "..", "é.é.é", "x".repeat(8000)])
      expect(await authenticate(token)).toBeNull();
  });

  it("checks against a key set, with the tenant in the claim it is told", async () => {
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "k1", alg: "ES256" }] };
    const byKeys = createJwtAuthenticator({ jwks, tenantClaim: "custom:org", now: () => now });
    const sign = (tenant: string) =>
      new SignJWT({ sub: "ann", "custom:org": tenant, exp: now / 1000 + 60 })
        .setProtectedHeader({ alg: "ES256", kid: "k1" })
        .sign(privateKey);
    expect(await byKeys(await sign("acme"))).toEqual({ tenant: "acme", user: "ann" });
    expect(await byKeys(await sign("../x"))).toBeNull();
    // A secret-signed token is never checked with a public key as the secret.
    expect(await byKeys(await signed({ ...good, "custom:org": "acme" }))).toBeNull();
  });

  it("says that tokens cannot be checked when the key set cannot be had, instead of refusing them", async () => {
    const byKeys = createJwtAuthenticator({ jwks: new URL("http://127.0.0.1:1/jwks.json"), now: () => now });
    const { privateKey } = await generateKeyPair("ES256");
    const token = await new SignJWT(good).setProtectedHeader({ alg: "ES256", kid: "k1" }).sign(privateKey);
    const response = await apiFixture({ authenticate: byKeys }).ask("/v1/sessions", { token });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([503, "auth.unavailable"]);
  });

  it("refuses to be made of both or of neither", () => {
    expect(() => createJwtAuthenticator({})).toThrow("either secret or jwks");
    expect(() => createJwtAuthenticator({ secret, jwks: { keys: [] } })).toThrow("either secret or jwks");
  });
});
