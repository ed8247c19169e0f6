// Batch tasks over HTTP, on the embedded runtime: define, list, run, runs, remove, events, and where answers may go.
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createApi } from "../../lib/api/create-api.ts";
import { pageOf } from "../../lib/api/shapes.ts";
import { run, task } from "../../lib/api/task-shapes.ts";
import { embed } from "../../lib/testing/embed.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";
import { reporter } from "../batch/task-world.ts";
import { type Receiver, startReceiver } from "../delivery/webhook-receiver.ts";
import { authenticate, problemOf } from "./api-fixture.ts";

const receivers: Receiver[] = [];
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close();
});

function fixture() {
  const runtime = embed({ agents: [reporter], model: replayModel([{ text: "All is well." }]) });
  const api = createApi({ deps: runtime.deps, authenticate, info: { version: "test", model: "scripted" } });
  const ask = (method: string, path: string, json?: unknown, options: { token?: string; id?: string } = {}) =>
    api.fetch(
      new Request(`http://baton.test${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${options.token ?? "acme/ann"}`,
          ...(options.id ? { "Idempotency-Key": options.id } : {}),
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      }),
    );
  return { runtime, ask };
}

const daily = {
  name: "daily",
  agent: "reporter",
  prompt: "Report.",
  schedule: { cron: "0 6 * * *", timeZone: "Europe/Berlin" },
};

describe("tasks", () => {
  it("are defined once and again, listed, and removed", async () => {
    const { ask } = fixture();
    const first = await ask("POST", "/v1/tasks", daily);
    expect(first.status).toBe(201);
    const defined = task.parse(await first.json());
    expect(defined).toEqual({
      ...daily,
      catchUp: "none",
      user: "ann",
      createdAt: "2026-11-30T12:00:00.000Z",
      updatedAt: "2026-11-30T12:00:00.000Z",
      nextAt: "2026-12-01T05:00:00.000Z",
    });
    const again = await ask("POST", "/v1/tasks", daily);
    expect([again.status, await again.json()]).toEqual([200, defined]);
    expect(pageOf(task).parse(await (await ask("GET", "/v1/tasks")).json()).items).toEqual([defined]);
    expect((await ask("DELETE", "/v1/tasks/daily")).status).toBe(200);
    expect(await (await ask("GET", "/v1/tasks")).json()).toEqual({ items: [] });
    expect(await problemOf(await ask("DELETE", "/v1/tasks/daily"))).toMatchObject({ status: 404 });
  });

  it("run now, once for one Idempotency-Key, and their runs say how they ended and were delivered", async () => {
    const { runtime, ask } = fixture();
    const receiver = await startReceiver();
    receivers.push(receiver);
    await ask("POST", "/v1/tasks", { ...daily, deliverTo: { webhook: receiver.url } });
    const started = await ask("POST", "/v1/tasks/daily/run", undefined, { id: "r-1" });
    expect(started.status).toBe(202);
    const { slot, sessionId } = run.parse(await started.json());
    await runtime.idle();
    const repeat = await ask("POST", "/v1/tasks/daily/run", undefined, { id: "r-1" });
    expect(run.parse(await repeat.json())).toMatchObject({ slot, sessionId, status: "done" });
    const runs = pageOf(run).parse(await (await ask("GET", "/v1/tasks/daily/runs")).json());
    expect(runs.items).toMatchObject([
      { slot, kind: "manual", status: "done", outcome: "completed", delivery: { status: "sent", attempts: 1 } },
    ]);
    expect(receiver.received).toHaveLength(1);
    expect((await ask("GET", `/v1/sessions/${sessionId}`)).status).toBe(200);
  });

  it("are started by events, once for one id", async () => {
    const { runtime, ask } = fixture();
    await ask("POST", "/v1/tasks", {
      name: "on-alert",
      agent: "reporter",
      prompt: "Look.",
      on: { source: "bank", detailType: "Alert" },
    });
    const event = { id: "e-1", source: "bank", detailType: "Alert", detail: { customer: "C-1" } };
    const answers = await Promise.all([1, 2].map(async () => (await ask("POST", "/v1/events", event)).status));
    expect(answers).toEqual([202, 202]);
    await runtime.idle();
    expect(pageOf(run).parse(await (await ask("GET", "/v1/tasks/on-alert/runs")).json()).items).toMatchObject([
      { kind: "event", status: "done" },
    ]);
    expect(await (await ask("POST", "/v1/events", { ...event, source: "other" })).json()).toEqual({ runs: [] });
  });

  it("of another tenant are unknown (G6)", async () => {
    const { ask } = fixture();
    await ask("POST", "/v1/tasks", daily);
    const globex = { token: "globex/gus" };
    expect(await (await ask("GET", "/v1/tasks", undefined, globex)).json()).toEqual({ items: [] });
    for (const [method, path] of [
      ["GET", "/v1/tasks/daily/runs"],
      ["POST", "/v1/tasks/daily/run"],
      ["DELETE", "/v1/tasks/daily"],
    ] as const) {
      expect(await problemOf(await ask(method, path, undefined, globex))).toMatchObject({ status: 404 });
    }
  });

  it.each([
    [{ ...daily, agent: "nobody" }, "$.agent"],
    [{ ...daily, schedule: { cron: "61 * * * *" } }, "$.schedule.cron"],
    [{ ...daily, schedule: { cron: "* * * * * *" } }, "$.schedule.cron"],
    [{ ...daily, schedule: { cron: "0 6 * * *", timeZone: "Mars/Olympus" } }, "$.schedule.timeZone"],
    [{ ...daily, name: "Not A Name" }, "$.name"],
    [{ ...daily, prompt: "  " }, "$.prompt"],
    [{ ...daily, catchUp: "twice" }, "$.catchUp"],
    [{ ...daily, deliverTo: { webhook: "http://example.com/hook" } }, "$.deliverTo.webhook"],
    [{ ...daily, deliverTo: { webhook: "https://169.254.169.254/" } }, "$.deliverTo.webhook"],
    [{ ...daily, deliverTo: { mail: "nobody" } }, "$.deliverTo"],
    [{ ...daily, tenant: "globex" }, "$.tenant"],
  ])("that cannot be are refused with the field: %#", async (body, path) => {
    const { ask } = fixture();
    const problem = await problemOf(await ask("POST", "/v1/tasks", body));
    expect(problem).toMatchObject({ status: 400, code: "input.invalid" });
    expect(problem.errors?.some((error) => error.path.startsWith(path))).toBe(true);
  });
});

describe("a message with deliverTo", () => {
  it("is answered to its webhook, too", async () => {
    const { runtime, ask } = fixture();
    const receiver = await startReceiver();
    receivers.push(receiver);
    const sent = await ask("POST", "/v1/messages", { key: "k", text: "hello", deliverTo: { webhook: receiver.url } });
    expect(sent.status).toBe(202);
    await runtime.idle();
    expect(receiver.received.map(({ body }) => JSON.parse(body).data.answer)).toEqual(["All is well."]);
  });

  it("that leads into a private network is refused", async () => {
    const { ask } = fixture();
    const body = { key: "k", text: "hello", deliverTo: { webhook: "https://10.0.0.8/" } };
    expect(await problemOf(await ask("POST", "/v1/messages", body))).toMatchObject({
      status: 400,
      errors: [{ path: "$.deliverTo.webhook" }],
    });
  });
});

describe("the secret of webhooks", () => {
  it("is told to its tenant, each its own", async () => {
    const { ask } = fixture();
    const secret = z.strictObject({ secret: z.string().regex(/^whsec_[A-Za-z0-9+/]{43}=$/) });
    const acme = await ask("GET", "/v1/webhook-secret");
    expect(acme.headers.get("Cache-Control")).toBe("no-store");
    const globex = await ask("GET", "/v1/webhook-secret", undefined, { token: "globex/gus" });
    expect(secret.parse(await acme.json()).secret).not.toBe(secret.parse(await globex.json()).secret);
  });
});
