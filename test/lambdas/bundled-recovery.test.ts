// The bundles of recover, sweep and batch, on DynamoDB's stand-in and a server that answers as Step Functions does.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDynamoDbTable } from "../../lib/adapters/dynamodb-table.ts";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { bundleLambda } from "../../lib/constructs/bundling.ts";
import { createStore, type Store } from "../../lib/store/index.ts";
import { type Dynalite, dynamoDbClient, startDynalite } from "../support/dynalite.ts";

type Handler = (event: unknown, context: object) => Promise<void>;
type Started = { name: string; input: { tenant: string; sessionId: string; turn: number; cause: string } };

const names = ["recover", "sweep", "batch"] as const;
const dir = mkdtempSync(join(tmpdir(), "baton-recovery-"));
const before = { ...process.env };
const context = { getRemainingTimeInMillis: () => 300_000 };
const started: Started[] = [];
const handlers: Partial<Record<(typeof names)[number], Handler>> = {};
const startBytes: Record<string, number> = {};
let dynalite: Dynalite;
let store: Store;

const stepFunctions = createServer(async (request, response) => {
  const body = (await json(request)) as { name: string; input: string };
  if (String(request.headers["x-amz-target"]).endsWith("StartExecution")) {
    started.push({ name: body.name, input: JSON.parse(body.input) });
    response.end(JSON.stringify({ executionArn: "arn", startDate: 0 }));
  } else response.end(JSON.stringify({ status: "FAILED", executionArn: "arn", stateMachineArn: "arn", startDate: 0 }));
});

beforeAll(async () => {
  const entry = fileURLToPath(new URL("fixture-agent.ts", import.meta.url));
  await new Promise<void>((resolve) => stepFunctions.listen(0, "127.0.0.1", resolve));
  const [stand, ...bundles] = await Promise.all([
    startDynalite(),
    ...names.map((name) => bundleLambda(name, entry, join(dir, name))),
  ]);
  dynalite = stand;
  const tableName = await dynalite.createTable();
  const clock = { now: Date.now, sleep: async () => {} };
  const table = createDynamoDbTable({ client: dynamoDbClient(dynalite.url), tableName, now: Date.now });
  store = createStore({ table, blobs: createMemoryBlobs(), clock });
  Object.assign(process.env, {
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_ENDPOINT_URL_DYNAMODB: dynalite.url,
    AWS_ENDPOINT_URL_SFN: `http://127.0.0.1:${(stepFunctions.address() as AddressInfo).port}`,
    BATON_TABLE: tableName,
    BATON_BLOBS: "blobs",
    BATON_STATE_MACHINE: "arn:aws:states:eu-central-1:123456789012:stateMachine:test",
    BATON_SIGNING_KEY: "0123456789abcdef0123456789abcdef",
  });
  for (const [i, name] of names.entries()) {
    startBytes[name] = bundles[i]?.startBytes ?? 0;
    handlers[name] = createRequire(import.meta.url)(join(dir, name, "index.mjs")).handler;
  }
});

beforeEach(() => {
  started.length = 0;
});

afterAll(async () => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  await store.table.close();
  await dynalite.close();
  stepFunctions.closeAllConnections();
  await new Promise((resolve) => stepFunctions.close(resolve));
  rmSync(dir, { recursive: true, force: true });
});

const run = (name: (typeof names)[number], event: unknown) => handlers[name]?.(event, context);

async function openTurn(sessionId: string): Promise<void> {
  const { log } = store;
  let n = 0;
  const writer = { next: () => `test/${sessionId}/${++n}` };
  const key = `agent:librarian:${sessionId}`;
  const base = { tenant: "acme", sessionId, key, user: "ann", agent: "librarian" };
  const head = await log.append(null, { type: "session.created", ...base, reason: "first" }, writer);
  await store.pointers.swap("acme", key, null, { sessionId, lastUserAt: Date.now() });
  const text = { type: "text" as const, text: "hello" };
  const message = {
    messageId: "m1",
    seq: 1,
    content: [text],
    at: Date.now(),
    from: { user: "ann", via: "api" as const },
  };
  await log.append(head, { type: "turn.started", turn: 1, owner: `${sessionId}-t1`, messages: [message] }, writer);
}

function statusEvent(sessionId: string, status: string) {
  const input = JSON.stringify({ tenant: "acme", sessionId, turn: 1, segment: 0, cause: "" });
  return { id: "315c1398-40ff-a850-213b-158f73e60175", detail: { name: `${sessionId}-t1`, status, input } };
}

describe("the bundled recover", () => {
  it("goes on with the turn of an execution that timed out (H26)", async () => {
    const sessionId = "20261130_120000_0000000a";
    await openTurn(sessionId);
    await run("recover", statusEvent(sessionId, "TIMED_OUT"));
    expect(started.map(({ input }) => input)).toEqual([
      { tenant: "acme", sessionId, turn: 1, segment: 0, cause: `execution_timed_out ${sessionId}-t1` },
    ]);
  });

  it("does nothing more for one that succeeded, and fails for what is no such event", async () => {
    await run("recover", statusEvent("20261130_120000_0000000b", "SUCCEEDED"));
    expect(started).toEqual([]);
    await expect(run("recover", {})).rejects.toThrow("not a status change");
  });
});

describe("the bundled sweep", () => {
  it("starts the slot of a task that is due, once (G17)", async () => {
    const at = Date.now() - 1000;
    const task = { name: "daily", agent: "librarian", prompt: "Read.", catchUp: "none" as const, user: "ann" };
    const schedule = { cron: "0 6 1 1 *", timeZone: "UTC" };
    await store.tasks.put("acme", { ...task, schedule, createdAt: at, updatedAt: at }, at);
    await run("sweep", {});
    await run("sweep", {});
    expect(started.map(({ input }) => [input.tenant, input.turn, input.cause])).toEqual([["acme", 1, ""]]);
    const { items } = await store.slots.recent("acme", "daily", { limit: 10 });
    expect(items).toMatchObject([{ status: "claimed", at, sessionId: started[0]?.input.sessionId }]);
  });
});

describe("the bundled batch", () => {
  it("starts the tasks that wait for an event, once for one id (H64)", async () => {
    const on = { source: "bank", detailType: "Alert" };
    const task = { name: "on-alert", agent: "librarian", prompt: "Look.", catchUp: "none" as const, user: "ann" };
    await store.tasks.put("acme", { ...task, on, createdAt: 0, updatedAt: 0 }, null);
    const event = { tenant: "acme", id: "e-1", ...on, detail: { customer: "C-1" } };
    await Promise.all([run("batch", event), run("batch", event)]);
    await run("batch", event);
    expect(new Set(started.map(({ name }) => name)).size).toBe(1);
    await expect(run("batch", { ...event, tenant: "a#b" })).rejects.toThrow("not an event");
  });
});

describe("the bundles of recovery", () => {
  it("stay within what a cold start may load", () => {
    for (const name of names) {
      expect(startBytes[name]).toBeGreaterThan(100 * 1024);
      expect([name, (startBytes[name] ?? 0) < 1300 * 1024]).toEqual([name, true]);
    }
  });
});
