// The API's bundle behind the events and the response stream of API Gateway.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleLambda } from "../../lib/constructs/bundling.ts";
import { type Dynalite, startDynalite } from "../support/dynalite.ts";

type Answer = { status: number; headers: Record<string, string>; body: string };
type StreamHandler = (event: object, stream: Writable, context: object) => Promise<void>;

const dir = mkdtempSync(join(tmpdir(), "baton-api-"));
const environment: Record<string, string> = {
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
  BATON_BLOBS: "blobs",
  BATON_STATE_MACHINE: "arn:aws:states:eu-central-1:123456789012:stateMachine:test",
  BATON_JWKS_URL: "http://127.0.0.1:9/keys",
  BATON_SIGNING_KEY: "0123456789abcdef0123456789abcdef",
  BATON_PUBLIC_URL: "https://baton.example",
};
const before = { ...process.env };
let dynalite: Dynalite;
let handler: StreamHandler;
let startBytes = 0;

beforeAll(async () => {
  const entry = fileURLToPath(new URL("fixture-agent.ts", import.meta.url));
  const [started, bundle] = await Promise.all([startDynalite(), bundleLambda("api", entry, dir)]);
  dynalite = started;
  startBytes = bundle.startBytes;
  Object.assign(process.env, environment, {
    AWS_ENDPOINT_URL_DYNAMODB: dynalite.url,
    BATON_TABLE: await dynalite.createTable(),
  });
  // What the Lambda runtime gives to a handler that streams.
  Object.assign(globalThis, {
    awslambda: { streamifyResponse: (wrapped: StreamHandler) => wrapped, HttpResponseStream },
  });
  ({ handler } = createRequire(import.meta.url)(join(dir, "index.mjs")));
});

afterAll(async () => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  Reflect.deleteProperty(globalThis, "awslambda");
  await dynalite.close();
  rmSync(dir, { recursive: true, force: true });
});

describe("the bundled API", () => {
  it("answers open paths without a token", async () => {
    expect(await call("GET", "/healthz")).toMatchObject({ status: 200 });
    const { status, body } = await call("GET", "/openapi.json");
    expect(status).toBe(200);
    expect(Object.keys(JSON.parse(body).paths)).toContain("/v1/messages");
  });

  it("answers a problem, never a 5xx, to a request without a token", async () => {
    const { status, headers, body } = await call("POST", "/v1/messages", { key: "k", text: "hello" });
    expect(status).toBe(401);
    expect(headers["content-type"]).toContain("application/problem+json");
    expect(JSON.parse(body)).toMatchObject({ status: 401, code: "auth.required" });
  });

  it("stays within what a cold start may load", () => {
    expect(startBytes).toBeGreaterThan(100 * 1024);
    expect(startBytes).toBeLessThan(1300 * 1024);
  });
});

/** Metadata first, then the body, as API Gateway takes them apart again. */
const HttpResponseStream = {
  from(stream: Writable & { metadata?: unknown }, metadata: unknown) {
    stream.metadata = metadata;
    return stream;
  },
};

async function call(httpMethod: string, path: string, body?: object): Promise<Answer> {
  const chunks: Buffer[] = [];
  const stream: Writable & { metadata?: { statusCode: number; headers: Record<string, string> } } = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  const event = {
    httpMethod,
    path,
    resource: path,
    headers: { host: "api.example", "content-type": "application/json" },
    body: body ? JSON.stringify(body) : null,
    isBase64Encoded: false,
    requestContext: { domainName: "api.example", path: `/prod${path}`, stage: "prod" },
  };
  await handler(event, stream, {});
  const { statusCode = 0, headers = {} } = stream.metadata ?? {};
  return { status: statusCode, headers, body: Buffer.concat(chunks).toString() };
}
