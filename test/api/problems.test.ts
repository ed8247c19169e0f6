import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { control } from "../../lib/api/routes/control.ts";
import { problem } from "../../lib/api/shapes.ts";
import { StoreUnavailable, UnreadableRecord } from "../../lib/core/errors.ts";
import { address, created, turnStarted } from "../sessions/session-log.ts";
import { apiFixture, problemOf } from "./api-fixture.ts";

/** An API with one more action, which fails with `error`. */
function failing(error: unknown) {
  return apiFixture({
    routes: [
      (app, context) =>
        control(app, context, {
          action: "explode",
          summary: "",
          body: z.strictObject({}) as never,
          run: () => Promise.reject(error),
        }),
    ],
  });
}

async function explode(error: unknown) {
  const fixture = failing(error);
  await fixture.session().append(created());
  return { ...fixture, response: await fixture.ask(`/v1/sessions/${address.sessionId}/explode`, { method: "POST" }) };
}

describe("problems (RFC 9457)", () => {
  it("name type, title, status, code and detail", async () => {
    const response = await apiFixture().ask("/v1/nothing");
    expect(response.status).toBe(404);
    expect(await problemOf(response)).toEqual({
      type: "urn:baton:error:not_found",
      title: "Not found",
      status: 404,
      code: "not_found",
      detail: "no such path",
    });
  });

  it("ask for a token with WWW-Authenticate, and say when one was not good", async () => {
    const { ask } = apiFixture();
    const none = await ask("/v1/sessions", { token: "" });
    expect([none.status, none.headers.get("WWW-Authenticate")]).toEqual([401, 'Bearer realm="baton"']);
    for (const value of ["Bearer bad", "Bearer", "Basic YTpi", "Bearer a b", `Bearer ${"x".repeat(9000)}/u`]) {
      const bad = await ask("/v1/sessions", { token: "", headers: { Authorization: value } });
      expect([bad.status, bad.headers.get("WWW-Authenticate")]).toEqual([
        401,
        'Bearer realm="baton", error="invalid_token"',
      ]);
      expect((await problemOf(bad)).code).toBe("auth.required");
    }
    expect((await ask("/v1/sessions", { token: "", headers: { Authorization: "bearer acme/ann" } })).status).toBe(200);
  });

  it.each([
    ["DELETE", "/v1/messages", "POST"],
    ["PUT", "/v1/sessions", "GET, HEAD"],
    ["POST", `/v1/sessions/${address.sessionId}/events`, "GET, HEAD"],
    ["GET", `/v1/sessions/${address.sessionId}/stop`, "POST"],
    ["POST", "/healthz", "GET, HEAD"],
    ["OPTIONS", "/v1/messages", "POST"],
  ])("answer %s %s with 405 and Allow", async (method, path, allow) => {
    const response = await apiFixture().ask(path, { method });
    expect([response.status, response.headers.get("Allow")]).toEqual([405, allow]);
    expect((await problemOf(response)).code).toBe("method.not_allowed");
  });

  it("turn a Transient into 503 with Retry-After in whole seconds", async () => {
    const { response } = await explode(new StoreUnavailable("the store is away", { retryAfterMs: 2100 }));
    expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "3"]);
    expect((await problemOf(response)).code).toBe("store.unavailable");
    const soon = await explode(new StoreUnavailable("the store is away"));
    expect(soon.response.headers.get("Retry-After")).toBe("1");
  });

  it("say an unexpected error in general words, with an id under which the log has it (G20)", async () => {
    const { response, lines } = await explode(new TypeError("secret 4711 in the message"));
    const found = await problemOf(response);
    expect([found.status, found.code]).toEqual([500, "unexpected"]);
    const [line] = lines;
    expect(line).toMatchObject({ level: "error", fields: { name: "TypeError" } });
    expect(found.detail).toContain(String(line?.fields?.errorId));
    expect(JSON.stringify([found, lines])).not.toContain("4711");
    expect(String(line?.fields?.at)).toContain("problems.test.ts");
    expect(found.detail).not.toContain(".ts");
  });

  it("take anything that is thrown", async () => {
    for (const thrown of ["text", null, undefined, { status: 200 }]) {
      const { response } = await explode(thrown);
      expect((await problemOf(response)).code).toBe("unexpected");
    }
  });

  it("log what is wrong in the store", async () => {
    const { response, lines } = await explode(new UnreadableRecord("V#1.event: not JSON"));
    expect((await problemOf(response)).code).toBe("store.unreadable_record");
    expect(lines).toEqual([{ level: "error", message: "request failed", fields: { code: "store.unreadable_record" } }]);
  });
});

describe("every answer", () => {
  it("carries security headers and allows no other origin", async () => {
    const { ask } = apiFixture();
    for (const path of ["/healthz", "/openapi.json", "/v1/sessions", "/nothing"]) {
      const { headers } = await ask(path, { headers: { Origin: "https://evil.example" } });
      expect(headers.get("X-Content-Type-Options"), path).toBe("nosniff");
      expect(headers.get("Content-Security-Policy"), path).toContain("frame-ancestors 'none'");
      expect(headers.get("Cache-Control"), path).toBe("no-store");
      expect(headers.get("Referrer-Policy"), path).toBe("no-referrer");
      expect(headers.has("Access-Control-Allow-Origin"), path).toBe(false);
    }
  });

  it("keeps the headers that a route brings itself", async () => {
    const { ask } = apiFixture({
      routes: [
        (app) => app.get("/page", (c) => c.html("<p>", 200, { "Content-Security-Policy": "default-src 'self'" })),
      ],
    });
    expect((await ask("/page")).headers.get("Content-Security-Policy")).toBe("default-src 'self'");
  });

  it("is never a 5xx for what a client sent, and every 4xx is a problem", async () => {
    const fixture = apiFixture({ limits: { textBytes: 2000, bodyBytes: 3000 } });
    await fixture.session().append(created(), turnStarted(1));
    const id = fc.oneof(fc.constant(address.sessionId), fc.string({ unit: "binary", maxLength: 20 }).map(safeUri));
    const path = fc.oneof(
      fc.constantFrom("/v1/messages", "/v1/sessions", "/healthz", "/openapi.json", "/v1"),
      fc
        .tuple(id, fc.constantFrom("", "/events", "/checkpoints", "/checkpoints/1", "/checkpoints/x", "/stop", "/"))
        .map(([a, b]) => `/v1/sessions/${a}${b}`),
      fc.string({ unit: "binary", maxLength: 20 }).map((text) => `/${safeUri(text)}`),
    );
    const value = fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.nat().map(String),
      fc.constantFrom("", "1e3", "%", "[]"),
    );
    const names = ["after", "cursor", "limit", "wait", "status", "key", "__proto__", "constructor", "x"];
    const query = fc
      .array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 3 })
      .map((pairs) => pairs.map(([k, v]) => `${k}=${safeUri(v)}`).join("&"));
    const json = fc.record(
      {
        key: fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue()),
        text: fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue()),
        content: fc.oneof(
          fc.jsonValue(),
          fc.array(
            fc.record(
              { type: fc.constantFrom("text", "image", "x"), text: fc.string(), data: fc.base64String() },
              { requiredKeys: [] },
            ),
          ),
        ),
        agent: fc.oneof(fc.constant("aml"), fc.jsonValue()),
        busy: fc.oneof(fc.constantFrom("enqueue", "reject", "steer", "interrupt"), fc.jsonValue()),
        reason: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      fc.constant(undefined),
      json.map((value) => Buffer.from(JSON.stringify(value))),
      fc.json().map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 4000 }).map((bytes) => Buffer.from(bytes)),
    );
    const headerValue = fc.string({
      unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
      maxLength: 20,
    });
    const headers = fc.dictionary(
      fc.constantFrom("Content-Type", "Accept", "If-Match", "Last-Event-ID", "Idempotency-Key", "Content-Length"),
      headerValue,
    );
    const message = fc.record({
      path: fc.constant("/v1/messages"),
      query: fc.constantFrom("", "wait=0", "wait=x"),
      body: fc.oneof(
        fc
          .record({
            key: fc.string({ minLength: 1, maxLength: 8 }),
            text: fc.oneof(
              fc.string({ unit: "binary" }),
              fc.nat({ max: 3500 }).map((n) => "x".repeat(n)),
            ),
          })
          .map((value) => Buffer.from(JSON.stringify(value))),
        json.map((value) => Buffer.from(JSON.stringify(value))),
      ),
      headers: fc.constant({}),
      method: fc.constant("POST"),
      token: fc.constant("acme/ann"),
    });
    const method = fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS");
    const token = fc.constantFrom("acme/ann", "acme/ann", "acme/ann", "rival/eve", "");
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(fc.oneof(message, fc.record({ path, query, body, headers, method, token })), async (sent) => {
        const bodiless = sent.method === "GET" || sent.method === "HEAD";
        const response = await fixture.ask(`${sent.path}?${sent.query}`, {
          method: sent.method,
          headers: sent.headers,
          token: sent.token,
          ...(bodiless || !sent.body ? {} : { body: sent.body }),
        });
        expect(response.status).toBeLessThan(500);
        statuses.add(response.status);
        if (response.status >= 400 && sent.method !== "HEAD") problem.parse(await response.json());
        else await response.body?.cancel();
      }),
      { numRuns: 1500 },
    );
    expect(fixture.lines.filter((line) => line.level === "error")).toEqual([]);
    expect([...statuses]).toEqual(expect.arrayContaining([200, 202, 400, 401, 404, 405, 413]));
  });
});

/** Percent-encoded, also what encodeURIComponent refuses, and sometimes broken on purpose. */
function safeUri(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : "%ED%A0%80%E0%A4%A";
}
