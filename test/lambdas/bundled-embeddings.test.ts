// Embeddings in the bundles of Think and remember: loaded when first needed, spoken to over the wire, missed at once.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDynamoDbTable } from "../../lib/adapters/dynamodb-table.ts";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { type Bundle, bundleLambda } from "../../lib/constructs/bundling.ts";
import { createDemoModelServer, type DemoModelServer } from "../../lib/demo-model/server.ts";
import { createStore, type Store } from "../../lib/store/index.ts";
import { type BedrockServer, startBedrockServer } from "../support/bedrock-server.ts";
import { type Dynalite, dynamoDbClient, startDynalite } from "../support/dynalite.ts";
import { ann, found } from "../support/memory-world.ts";

type Handler = (event: object, context: { getRemainingTimeInMillis(): number }) => Promise<void>;

const native = createRequire(import.meta.url);
const dir = mkdtempSync(join(tmpdir(), "baton-embeddings-"));
const before = { ...process.env };
const bundles = new Map<string, Bundle>();
let dynalite: Dynalite;
let model: DemoModelServer;
let bedrock: BedrockServer;
let store: Store;

beforeAll(async () => {
  const entry = fileURLToPath(new URL("meaning-agent.ts", import.meta.url));
  const made = ["think", "remember", "compact"].map(async (name) => {
    bundles.set(name, await bundleLambda(name, entry, join(dir, name)));
  });
  const script = [1, 2].map(() => ({ text: found({ sentences: [1] }) }));
  [dynalite, model, bedrock] = await Promise.all([
    startDynalite(),
    createDemoModelServer({ script }),
    startBedrockServer(),
    ...made,
  ]);
  const tableName = await dynalite.createTable();
  const table = createDynamoDbTable({ client: dynamoDbClient(dynalite.url), tableName, now: Date.now });
  store = createStore({ table, blobs: createMemoryBlobs(), clock: { now: Date.now, sleep: async () => {} } });
  Object.assign(process.env, {
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_ENDPOINT_URL_DYNAMODB: dynalite.url,
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: bedrock.url,
    BATON_TABLE: tableName,
    BATON_BLOBS: "blobs",
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "test",
  });
});

afterAll(async () => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  await store.table.close();
  await Promise.all([dynalite.close(), model.close(), bedrock.close()]);
  rmSync(dir, { recursive: true, force: true });
});

/** Sources in the files of a bundle that satisfy `inFile`. */
function sources(name: string, inFile: (file: string) => boolean): string[] {
  const outputs = Object.entries(bundles.get(name)?.metafile.outputs ?? {});
  return outputs.filter(([file]) => inFile(file)).flatMap(([, { inputs }]) => Object.keys(inputs));
}

const load = (name: string): { handler: Handler } => native(join(dir, name, "index.mjs"));

describe("the bundles with embeddings", () => {
  it("hold the client of Bedrock where facts are chosen, in a file of its own", () => {
    const isBedrock = (path: string) => path.includes("client-bedrock-runtime");
    const holding = [...bundles.keys()].filter((name) => sources(name, () => true).some(isBedrock));
    expect(holding.toSorted()).toEqual(["remember", "think"]);
    for (const name of holding) {
      expect(sources(name, (file) => file.endsWith("/index.mjs")).some(isBedrock)).toBe(false);
      expect(sources(name, (file) => file.endsWith("/bedrock-embeddings.mjs")).some(isBedrock)).toBe(true);
    }
  });

  it("stay within what a cold start may load", () => {
    for (const { startBytes } of bundles.values()) {
      expect(startBytes).toBeGreaterThan(100 * 1024);
      expect(startBytes).toBeLessThan(950 * 1024);
    }
  });

  it("do not start where the construct has none", () => {
    expect(() => load("think")).toThrow(/agent "rememberer" has memory\.similarity "embeddings".*the Agent construct/);
  });

  it("make the vectors of what is learnt, over the wire, and go on without when Bedrock refuses", async () => {
    process.env.BATON_EMBEDDINGS_MODEL = "amazon.titan-embed-text-v2:0";
    const { handler } = load("remember");
    const learn = async (sessionId: string, text: string) => {
      await ended(sessionId, text);
      const input = JSON.stringify({ tenant: "acme", sessionId });
      const event = { id: sessionId, detail: { name: "x", status: "SUCCEEDED", input } };
      await handler(event, { getRemainingTimeInMillis: () => 300_000 });
      return (await store.facts.list(ann)).find((fact) => fact.text === text);
    };
    const first = await learn("20261130_120000_00000001", "I am a vegetarian.");
    expect(first?.vector).toMatchObject({ model: "amazon.titan-embed-text-v2:0", packed: expect.any(String) });
    expect(bedrock.requests.map(({ body }) => body.inputText)).toEqual(["I am a vegetarian."]);

    bedrock.fail({ status: 403, type: "AccessDeniedException" });
    const second = await learn("20261130_120000_00000002", "I live in Berlin.");
    expect(second).toMatchObject({ text: "I live in Berlin." });
    expect(second).not.toHaveProperty("vector");
  });
});

/** A session of ann's whose first turn has ended, and from which nobody has learnt. */
async function ended(sessionId: string, text: string): Promise<void> {
  const { log } = store;
  let n = 0;
  const writer = { next: () => `test/${sessionId}/${++n}` };
  const base = { ...ann, sessionId, key: `agent:${sessionId}`, agent: "rememberer" };
  const content = [{ type: "text" as const, text }];
  const message = { messageId: "m1", seq: 1, content, at: Date.now(), from: { user: "ann", via: "api" as const } };
  let head = await log.append(null, { type: "session.created", ...base, reason: "first" }, writer);
  await store.lessons.expect({ tenant: "acme", sessionId, turn: 1 }, Date.now());
  head = await log.append(head, { type: "turn.started", turn: 1, owner: "x", messages: [message] }, writer);
  const end = { type: "turn.finished", turn: 1, status: "completed", endReason: "completed", answer: "Done." } as const;
  await log.append(head, end, writer);
}
