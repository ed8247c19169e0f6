// The bundles that CDK would deploy, not the sources: built by lib/constructs/bundling.ts, run by the embedded
// interpreter, against stand-ins of DynamoDB, S3 and the model, over the wire.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDynamoDbTable } from "../../lib/adapters/dynamodb-table.ts";
import { createHmacSigner } from "../../lib/adapters/hmac-signer.ts";
import { createHttpWebhooks } from "../../lib/adapters/http-webhooks.ts";
import { createJsonLog } from "../../lib/adapters/json-log.ts";
import { silentLive } from "../../lib/adapters/live-bus.ts";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createRandomIds } from "../../lib/adapters/random-ids.ts";
import { createSystemClock } from "../../lib/adapters/system-clock.ts";
import { type Bundle, bundleLambda } from "../../lib/constructs/bundling.ts";
import { createDemoModelServer, type DemoModelServer } from "../../lib/demo-model/server.ts";
import { createInterpreter, type StepHandlers } from "../../lib/local/interpreter.ts";
import { approvalMails } from "../../lib/mail/approval-mails.ts";
import { acceptMessage } from "../../lib/sessions/accept.ts";
import type { Deps } from "../../lib/steps/deps.ts";
import { type StepInput, type StepName, stepNames } from "../../lib/steps/io.ts";
import { createStore } from "../../lib/store/index.ts";
import { type Dynalite, startDynalite } from "../support/dynalite.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";
import librarian from "./fixture-agent.ts";

type Handler = (input: StepInput, invocation: { getRemainingTimeInMillis(): number }) => Promise<unknown>;

/** Node's own loader: vitest would transform the bundles first, which takes longer than the test. */
const native = createRequire(import.meta.url);
const dir = mkdtempSync(join(tmpdir(), "baton-bundles-"));
const bundles = new Map<StepName, Bundle>();
let dynalite: Dynalite;
let s3: S3Server;
let model: DemoModelServer;

beforeAll(async () => {
  const entry = fileURLToPath(new URL("fixture-agent.ts", import.meta.url));
  const made = stepNames.map(async (name) => bundles.set(name, await bundleLambda(name, entry, join(dir, name))));
  [dynalite, s3, model] = await Promise.all([
    startDynalite(),
    startS3Server(),
    createDemoModelServer({
      script: [
        { text: "Let me look.", calls: [1, 2].map((chapter) => ({ name: "read_book", input: { chapter } })) },
        { text: "It is in chapter 2." },
      ],
    }),
    ...made,
  ]);
});

afterAll(async () => {
  await Promise.all([dynalite.close(), s3.close(), model.close()]);
  rmSync(dir, { recursive: true, force: true });
});

describe("a bundled handler", () => {
  const budgetKb: Record<StepName, number> = {
    begin: 480,
    act: 480,
    finish: 480,
    fail: 480,
    // With the clients of SES and Step Functions, and nodemailer.
    ask: 700,
    think: 950,
    compact: 950,
  };

  it.each(stepNames)("%s stays within what a cold start may load", (name) => {
    const bundle = bundles.get(name);
    expect(bundle?.startBytes).toBeGreaterThan(100 * 1024);
    expect(bundle?.startBytes).toBeLessThan((budgetKb[name] ?? 0) * 1024);
  });

  it.each(["begin", "act", "finish", "think"] as const)("%s does so with the flagship in it", async (name) => {
    const entry = fileURLToPath(new URL("../../examples/aml-investigator/agent.ts", import.meta.url));
    const flagship = await bundleLambda(name, entry, join(dir, "flagship", name));
    expect(flagship.startBytes).toBeLessThan(budgetKb[name] * 1024);
  });

  it("holds the model's SDK only where a model is asked, and never loads S3's at the start", () => {
    const withModel = stepNames.filter((name) => inputsOf(name).some((path) => path.includes("@anthropic-ai/sdk")));
    expect(withModel).toEqual(["think", "compact"]);
    for (const name of stepNames) {
      expect(inputsOf(name, "index.mjs").filter((path) => path.includes("client-s3"))).toEqual([]);
      expect(inputsOf(name).some((path) => path.includes("client-s3"))).toBe(true);
    }
  });

  it("holds one language of zod and no chain of credential providers", () => {
    for (const name of stepNames) {
      expect(inputsOf(name).filter((path) => /zod\/v4\/locales\/(?!en\.js)/.test(path))).toEqual([]);
      expect(inputsOf(name).filter((path) => /credential-provider-(ini|sso|process|node)/.test(path))).toEqual([]);
    }
  });
});

describe("the bundled handlers", () => {
  it("play a whole turn on DynamoDB and S3, large outcomes by reference (H01, H73)", async () => {
    const tableName = await dynalite.createTable();
    const restore = setEnvironment({
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_ENDPOINT_URL_DYNAMODB: dynalite.url,
      AWS_ENDPOINT_URL_S3: await urlOf(s3),
      BATON_TABLE: tableName,
      BATON_BLOBS: "blobs",
      BATON_STATE_MACHINE: "arn:aws:states:eu-central-1:123456789012:stateMachine:test",
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "test",
    });
    try {
      const errors: string[] = [];
      const interpreter = createInterpreter({
        handlers: loadHandlers(),
        onEvent: (event) => "error" in event && errors.push(`${event.kind} ${event.error}`),
      });
      const deps = depsOn(tableName, interpreter);
      const accepted = await acceptMessage(deps, {
        tenant: "acme",
        user: "ada",
        key: "agent:main:test:dm:ada",
        content: [{ type: "text", text: "Where is it?" }],
        via: "api",
      });
      await interpreter.idle();

      expect(errors).toEqual([]);
      const head = await deps.store.log.head("acme", accepted.sessionId);
      expect(head?.state.lastTurn).toMatchObject({ turn: 1, status: "completed", endReason: "completed" });
      expect(model.requests.map((request) => request.path)).toEqual(["/v1/messages", "/v1/messages"]);
      const uploads = new Set(s3.requests.filter(({ method }) => method === "PUT").map(({ path }) => path));
      const outcomes = [...uploads].filter((path) => (s3.objects.get(path)?.byteLength ?? 0) > 32 * 1024);
      expect(outcomes).toHaveLength(2);
    } finally {
      restore();
    }
  });
});

/** Paths of the sources in a bundle, or in one of its files. */
function inputsOf(name: StepName, file = ""): string[] {
  const outputs = Object.entries(bundles.get(name)?.metafile.outputs ?? {});
  return outputs.filter(([path]) => path.endsWith(file)).flatMap(([, output]) => Object.keys(output.inputs));
}

function loadHandlers(): StepHandlers {
  const load = (name: StepName) => {
    const module: { handler: Handler } = native(join(dir, name, "index.mjs"));
    // Lambda hands over JSON and takes JSON.
    return async (input: StepInput) =>
      structuredClone(
        await module.handler(JSON.parse(JSON.stringify(input)), { getRemainingTimeInMillis: () => 900_000 }),
      );
  };
  return Object.fromEntries(stepNames.map((name) => [name, load(name)])) as StepHandlers;
}

/** What the API would have: it accepts the message and starts the execution. */
function depsOn(tableName: string, orchestrator: Deps["orchestrator"]): Deps {
  const clock = createSystemClock();
  const table = createDynamoDbTable({ client: dynalite.client, tableName, now: clock.now });
  return {
    store: createStore({ table, blobs: createMemoryBlobs(), clock }),
    agents: new Map([[librarian.name, librarian]]),
    model: { reply: () => Promise.reject(new Error("not here")) },
    orchestrator,
    clock,
    ids: createRandomIds(),
    log: createJsonLog({ write: () => {}, level: "off" }),
    live: silentLive,
    mailer: { destination: "nowhere", send: () => Promise.reject(new Error("not here")) },
    approvalMails,
    signer: createHmacSigner({ key: new Uint8Array(32) }),
    publicUrl: () => "https://baton.example",
    webhooks: createHttpWebhooks({ keyOf: () => new Uint8Array(32), now: clock.now }),
    stopping: new AbortController().signal,
  };
}

async function urlOf({ client }: S3Server): Promise<string> {
  const endpoint = await client.config.endpoint?.();
  return `http://127.0.0.1:${endpoint?.port}`;
}

function setEnvironment(values: Record<string, string>): () => void {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, values);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}
