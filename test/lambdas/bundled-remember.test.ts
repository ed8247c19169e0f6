// The bundle of remember, on DynamoDB's stand-in and the demo model's server, over the wire.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDynamoDbTable } from "../../lib/adapters/dynamodb-table.ts";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { bundleLambda } from "../../lib/constructs/bundling.ts";
import { createDemoModelServer, type DemoModelServer } from "../../lib/demo-model/server.ts";
import { createStore, type Store } from "../../lib/store/index.ts";
import { type Dynalite, dynamoDbClient, startDynalite } from "../support/dynalite.ts";
import { ann, found } from "../support/memory-world.ts";

type Handler = (event: object, context: { getRemainingTimeInMillis(): number }) => Promise<void>;

const dir = mkdtempSync(join(tmpdir(), "baton-remember-"));
const before = { ...process.env };
const context = { getRemainingTimeInMillis: () => 300_000 };
let dynalite: Dynalite;
let model: DemoModelServer;
let store: Store;
let handler: Handler;
let startBytes = 0;

beforeAll(async () => {
  const entry = fileURLToPath(new URL("remembering-agent.ts", import.meta.url));
  const script = [{ text: found({ sentences: [1] }) }, { text: found({ sentences: [1] }) }];
  const [stand, demo, bundle] = await Promise.all([
    startDynalite(),
    createDemoModelServer({ script }),
    bundleLambda("remember", entry, dir),
  ]);
  dynalite = stand;
  model = demo;
  startBytes = bundle.startBytes;
  const tableName = await dynalite.createTable();
  const clock = { now: Date.now, sleep: async () => {} };
  const table = createDynamoDbTable({ client: dynamoDbClient(dynalite.url), tableName, now: Date.now });
  store = createStore({ table, blobs: createMemoryBlobs(), clock });
  Object.assign(process.env, {
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_ENDPOINT_URL_DYNAMODB: dynalite.url,
    BATON_TABLE: tableName,
    BATON_BLOBS: "blobs",
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "test",
  });
  ({ handler } = createRequire(import.meta.url)(join(dir, "index.mjs")));
});

afterAll(async () => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  await store.table.close();
  await Promise.all([dynalite.close(), model.close()]);
  rmSync(dir, { recursive: true, force: true });
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

const texts = async () => (await store.facts.list(ann)).map(({ text }) => text).toSorted();

describe("the bundled remember", () => {
  it("learns from the turns of an execution that has ended", async () => {
    const sessionId = "20261130_120000_00000001";
    await ended(sessionId, "I am a vegetarian.");
    const input = JSON.stringify({ tenant: "acme", sessionId });
    await handler({ id: "e1", detail: { name: "x", status: "SUCCEEDED", input } }, context);
    expect(await texts()).toEqual(["I am a vegetarian."]);
    const log = await store.log.events("acme", sessionId, 0);
    expect(log.at(-1)?.event).toMatchObject({ type: "memory.updated", turn: 1, refused: [] });
  });

  it("learns from what was missed when the schedule runs it, once", async () => {
    await ended("20261130_120000_00000002", "I live in Berlin.");
    await handler({ sweep: true }, context);
    await handler({ sweep: true }, context);
    expect(await texts()).toEqual(["I am a vegetarian.", "I live in Berlin."]);
    expect(model.requests).toHaveLength(2);
  });

  it("refuses an event that is none of its executions", async () => {
    await expect(handler({ id: "e2", detail: { name: "x" } }, context)).rejects.toThrow("not a status change");
  });

  it("stays within what a cold start may load", () => {
    expect(startBytes).toBeGreaterThan(100 * 1024);
    expect(startBytes).toBeLessThan(950 * 1024);
  });
});
