// The bundled Ask in the machine: the wait on a task token, the mail by SES, the decision over the API, the call that
// runs after it. DynamoDB, SES and the model are stand-ins over the wire.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDynamoDbTable } from "../../lib/adapters/dynamodb-table.ts";
import { createHmacSigner } from "../../lib/adapters/hmac-signer.ts";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createSystemClock } from "../../lib/adapters/system-clock.ts";
import { createApi } from "../../lib/api/create-api.ts";
import { bundleLambda } from "../../lib/constructs/bundling.ts";
import { createDemoModelServer, type DemoModelServer } from "../../lib/demo-model/server.ts";
import { buildRuntime } from "../../lib/local/build-runtime.ts";
import { createInterpreter, type StepHandlers } from "../../lib/local/interpreter.ts";
import { readOutboxMail } from "../../lib/local/outbox-mail.ts";
import { acceptMessage } from "../../lib/sessions/accept.ts";
import { type StepInput, stepNames } from "../../lib/steps/io.ts";
import { silentLog } from "../../lib/testing/embed.ts";
import { type Dynalite, startDynalite } from "../support/dynalite.ts";
import publisher from "./asking-agent.ts";

type Handler = (input: unknown, invocation: { getRemainingTimeInMillis(): number }) => Promise<unknown>;

const native = createRequire(import.meta.url);
const dir = mkdtempSync(join(tmpdir(), "baton-ask-"));
const before = { ...process.env };
const signingKey = "0123456789abcdef0123456789abcdef";
const mailed: { to: string; source: string }[] = [];
let onMail = () => {};
let dynalite: Dynalite;
let model: DemoModelServer;

const ses = createServer(async (request, response) => {
  const body = (await json(request)) as { Destination: { ToAddresses: string[] }; Content: { Raw: { Data: string } } };
  mailed.push({
    to: body.Destination.ToAddresses.join(),
    source: Buffer.from(body.Content.Raw.Data, "base64").toString("utf8"),
  });
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ MessageId: "0100" }));
  onMail();
});

beforeAll(async () => {
  const entry = fileURLToPath(new URL("asking-agent.ts", import.meta.url));
  await new Promise<void>((resolve) => ses.listen(0, "127.0.0.1", resolve));
  const script = [{ calls: [{ name: "publish", input: { text: "Extra!" } }] }, { text: "It is out." }];
  [dynalite, model] = await Promise.all([
    startDynalite(),
    createDemoModelServer({ script }),
    ...stepNames.map((name) => bundleLambda(name, entry, join(dir, name))),
  ]);
});

afterAll(async () => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  ses.closeAllConnections();
  await Promise.all([dynalite.close(), model.close(), new Promise((resolve) => ses.close(resolve))]);
  rmSync(dir, { recursive: true, force: true });
});

describe("the bundled Ask", () => {
  it("waits on its task token behind a mailed link, and the call runs once after the decision (G8, G9, G10)", {
    timeout: 60_000,
  }, async () => {
    const tableName = await dynalite.createTable();
    Object.assign(process.env, {
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_ENDPOINT_URL_DYNAMODB: dynalite.url,
      AWS_ENDPOINT_URL_SESV2: `http://127.0.0.1:${(ses.address() as AddressInfo).port}`,
      BATON_TABLE: tableName,
      BATON_BLOBS: "blobs",
      BATON_STATE_MACHINE: "arn:aws:states:eu-central-1:123456789012:stateMachine:test",
      BATON_SIGNING_KEY: signingKey,
      BATON_PUBLIC_URL: "https://baton.example",
      BATON_MAIL_FROM: "approvals@press.example",
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "test",
    });
    const entered: string[] = [];
    const interpreter = createInterpreter({
      handlers: loadHandlers(),
      onEvent: (event) => event.kind === "entered" && entered.push(event.state),
    });
    const deps = apiDeps(tableName, interpreter);
    const firstMail = new Promise<void>((resolve) => {
      onMail = resolve;
    });
    const { sessionId } = await acceptMessage(deps, {
      tenant: "acme",
      user: "ada",
      key: "agent:main:test:dm:ada",
      content: [{ type: "text", text: "Publish it." }],
      via: "api",
    });
    await firstMail;
    expect(mailed.map(({ to }) => to)).toEqual(["editor@press.example"]);
    const [link] = readOutboxMail(mailed[0]?.source ?? "").links;
    const { fetch } = createApi({ deps, authenticate: async () => null, info: { version: "test", model: "demo" } });

    const page = await (await fetch(new Request(link ?? ""))).text();
    const pending = await deps.store.log.head("acme", sessionId);
    expect(pending?.state.turn?.calls).toMatchObject([{ tool: "publish", status: "asking", approval: "pending" }]);
    const nonce = /name="nonce" value="([^"]+)"/.exec(page)?.[1] ?? "";
    const decided = await fetch(
      new Request(link ?? "", { method: "POST", body: new URLSearchParams({ nonce, do: "approve" }) }),
    );
    expect(decided.status).toBeLessThan(400);
    await interpreter.idle();

    const events = await deps.store.log.events("acme", sessionId, 0);
    const outcomes = events.flatMap(({ event }) => (event.type === "call.finished" ? [event.outcome] : []));
    expect(outcomes).toEqual([{ status: "success", output: { published: "Extra!" } }]);
    expect(events.at(-1)?.event).toMatchObject({ type: "turn.finished", status: "completed", answer: "It is out." });
    expect(entered.filter((state) => state === "Ask")).toHaveLength(1);
    expect(mailed).toHaveLength(1);
  });
});

function loadHandlers(): StepHandlers {
  const entries = stepNames.map((name) => {
    const { handler }: { handler: Handler } = native(join(dir, name, "index.mjs"));
    const invoke = async (input: StepInput) =>
      structuredClone(await handler(JSON.parse(JSON.stringify(input)), { getRemainingTimeInMillis: () => 900_000 }));
    return [name, invoke];
  });
  return Object.fromEntries(entries) as StepHandlers;
}

/** What the API function would have, with the interpreter in place of Step Functions. */
function apiDeps(tableName: string, interpreter: ReturnType<typeof createInterpreter>) {
  const clock = createSystemClock();
  const { deps } = buildRuntime({
    agents: new Map([[publisher.name, publisher]]),
    model: { reply: () => Promise.reject(new Error("not here")) },
    table: createDynamoDbTable({ client: dynalite.client, tableName, now: clock.now }),
    blobs: createMemoryBlobs(),
    log: silentLog,
    clock,
    mailer: { destination: "nowhere", send: () => Promise.reject(new Error("not here")) },
    signer: createHmacSigner({ key: new TextEncoder().encode(signingKey) }),
    publicUrl: () => "https://baton.example",
  });
  return { ...deps, orchestrator: interpreter };
}
