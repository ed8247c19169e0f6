import { describe, expect, it } from "vitest";
import { accepted, settled } from "../../lib/api/shapes.ts";
import { turnStarted } from "../sessions/session-log.ts";
import { apiFixture, problemOf } from "./api-fixture.ts";

const key = "agent:aml:cli:dm:me";

function post(fixture: ReturnType<typeof apiFixture>, json: unknown, headers: Record<string, string> = {}, query = "") {
  return fixture.ask(`/v1/messages${query}`, { method: "POST", json, headers });
}

describe("POST /v1/messages", () => {
  it("stores the message and answers 202 with its session and turn", async () => {
    const fixture = apiFixture();
    const response = await post(fixture, { key, text: "Investigate C-1042" });
    expect(response.status).toBe(202);
    const receipt = accepted.parse(await response.json());
    expect(receipt).toMatchObject({ key, turn: 1, status: "started" });
    expect(response.headers.get("Location")).toBe(`/v1/sessions/${receipt.sessionId}`);
    expect(await fixture.deps.store.inbox.list("acme", receipt.sessionId)).toMatchObject([
      {
        messageId: receipt.messageId,
        content: [{ type: "text", text: "Investigate C-1042" }],
        from: { user: "ann", via: "api" },
      },
    ]);
  });

  it("takes JSON whatever the Content-Type says, as curl -d sends it", async () => {
    const fixture = apiFixture();
    for (const type of ["application/x-www-form-urlencoded", "text/plain", "application/json", "multipart/form-data"]) {
      const body = JSON.stringify({ key: `k:${type}`, text: "hello" });
      const response = await fixture.ask("/v1/messages", { method: "POST", body, headers: { "Content-Type": type } });
      expect(response.status, type).toBe(202);
    }
  });

  it("queues a message for a busy session and says its position", async () => {
    const fixture = apiFixture();
    const { sessionId } = accepted.parse(await (await post(fixture, { key, text: "one" })).json());
    const head = await fixture.deps.store.log.head("acme", sessionId);
    await fixture.deps.store.log.append(head, turnStarted(1), { next: () => "w" });
    const second = accepted.parse(await (await post(fixture, { key, text: "two" })).json());
    expect(second).toMatchObject({ sessionId, status: "queued" });
    expect(second.position).toBeGreaterThan(0);
    const refused = await post(fixture, { key, text: "three", busy: "reject" });
    expect([refused.status, (await problemOf(refused)).code]).toEqual([409, "session.busy"]);
  });

  it("answers 200 with the finished turn when it settles within wait", async () => {
    const fixture = apiFixture({ runs: true });
    const response = await post(fixture, { key, text: "C-1042" }, {}, "?wait=25");
    expect(response.status).toBe(200);
    expect(settled.parse(await response.json())).toMatchObject({
      key,
      turn: 1,
      status: "completed",
      endReason: "completed",
      answer: '{\n  "input": "C-1042"\n}',
    });
  });

  it("answers 202 when it does not settle within wait", async () => {
    const fixture = apiFixture();
    const waiting = post(fixture, { key, text: "C-1042" }, {}, "?wait=2");
    for (let i = 0; i < 5; i++) {
      while (fixture.clock.sleeping() === 0 && i < 4) await new Promise((resolve) => setImmediate(resolve));
      await fixture.clock.advance(500);
    }
    expect((await waiting).status).toBe(202);
  });

  it("gives the same turn for a repeated Idempotency-Key, and 422 for another body (H63, G7)", async () => {
    const fixture = apiFixture();
    const headers = { "Idempotency-Key": "req-1" };
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(fixture, { key, text: "once" }, headers)));
    const receipts = await Promise.all(answers.map(async (answer) => accepted.parse(await answer.json())));
    expect(new Set(receipts.map(({ messageId, sessionId, turn }) => `${sessionId}/${turn}/${messageId}`)).size).toBe(1);
    const other = await post(fixture, { key, text: "another" }, headers);
    expect([other.status, (await problemOf(other)).code]).toEqual([422, "idempotency.mismatch"]);
    const rival = await fixture.ask("/v1/messages", {
      method: "POST",
      json: { key, text: "another" },
      headers,
      token: "rival/eve",
    });
    expect(rival.status).toBe(202);
  });

  it.each([
    [{}, ["$.key"]],
    [{ key }, ["$.text"]],
    [{ key, text: "x", content: [{ type: "text", text: "x" }] }, ["$.text"]],
    [{ key, text: " \n" }, ["$.text"]],
    [{ key, text: 5 }, ["$.text"]],
    [{ key, text: "x", tenant: "rival" }, ["$.tenant"]],
    [{ key: "", text: "x" }, ["$.key"]],
    [{ key: "a\u0000b", text: "x" }, ["$.key"]],
    [{ key: "x".repeat(513), text: "x" }, ["$.key"]],
    [{ key, content: [] }, ["$.content"]],
    [
      {
        key,
        content: [
          { type: "text", text: "ok" },
          { type: "text", text: "x", cache: true },
        ],
      },
      ["$.content[1].cache"],
    ],
    [{ key, content: [{ type: "audio" }] }, ["$.content[0].type"]],
    [{ key, content: [{ type: "image", mediaType: "image/png", data: "not base64!" }] }, ["$.content[0].data"]],
    [{ key, text: "x", busy: "sometimes" }, ["$.busy"]],
    [{ key, text: "x", agent: "No Such" }, ["$.agent"]],
    [[], ["$"]],
    [null, ["$"]],
  ])("refuses %j with the path of the field", async (body, paths) => {
    const response = await post(apiFixture(), body);
    const problem = await problemOf(response);
    expect([response.status, problem.code]).toEqual([400, "input.invalid"]);
    expect(problem.errors?.map(({ path }) => path)).toEqual(expect.arrayContaining(paths));
    expect(problem.errors?.every(({ message }) => message.length > 0)).toBe(true);
  });

  it("refuses half a surrogate pair and a key named __proto__", async () => {
    const fixture = apiFixture();
    for (const body of [
      `{"key":"k","text":"\\ud800"}`,
      `{"key":"k\\udc00","text":"x"}`,
      `{"key":"k","text":"x","__proto__":{"agent":"aml"}}`,
    ]) {
      const response = await fixture.ask("/v1/messages", { method: "POST", body });
      expect(response.status, body).toBe(400);
    }
  });

  it.each(["", "{", "text", "\u0000", '{"key":"k","text":"x"} x'])(
    "refuses the body %j, which is not JSON",
    async (body) => {
      const response = await apiFixture().ask("/v1/messages", { method: "POST", body });
      expect((await problemOf(response)).code).toBe("input.invalid");
    },
  );

  it("refuses bytes that are not UTF-8", async () => {
    const response = await apiFixture().ask("/v1/messages", {
      method: "POST",
      body: new Uint8Array([0x7b, 0xff, 0x7d]),
    });
    expect((await problemOf(response)).detail).toBe("the body is not UTF-8");
  });

  it.each(["?wait=26", "?wait=-1", "?wait=", "?wait=1.5", "?wait=1&wait=2", "?wiat=1"])(
    "refuses the query %s",
    async (query) => {
      const response = await post(apiFixture(), { key, text: "x" }, {}, query);
      expect((await problemOf(response)).status).toBe(400);
    },
  );

  it.each(["", "a b", "x".repeat(256), "é"])("refuses the Idempotency-Key %j", async (value) => {
    const response = await post(apiFixture(), { key, text: "x" }, { "Idempotency-Key": value });
    expect((await problemOf(response)).errors?.[0]?.path).toContain("dempotency-");
  });

  it("takes a picture and refuses text over its own limit", async () => {
    const fixture = apiFixture({ limits: { textBytes: 1000, bodyBytes: 10_000 } });
    const image = (bytes: number) => ({
      type: "image",
      mediaType: "image/png",
      data: Buffer.alloc(bytes).toString("base64"),
    });
    const ask = async (json: unknown) => (await fixture.ask("/v1/messages", { method: "POST", json })).status;
    expect(await ask({ key, content: [image(4000), { type: "text", text: "what is it?" }] })).toBe(202);
    expect(await ask({ key, text: "x".repeat(1001) })).toBe(413);
    expect(await ask({ key, content: [image(300), { type: "text", text: "x".repeat(1000) }] })).toBe(413);
    expect(await ask({ key, content: [image(9000)] })).toBe(413);
  });

  it("counts the bytes that come, whatever Content-Length says, and stops reading at the limit (H01)", async () => {
    const fixture = apiFixture({ limits: { textBytes: 1000, bodyBytes: 1000 } });
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 500;
        controller.enqueue(new Uint8Array(500).fill(0x20));
      },
    });
    const response = await fixture.ask("/v1/messages", {
      method: "POST",
      body,
      headers: { "Content-Length": "10" },
      duplex: "half",
    } as RequestInit);
    expect((await problemOf(response)).code).toBe("input.too_large");
    expect(sent).toBeLessThanOrEqual(2000);
  });
});
