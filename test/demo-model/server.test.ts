// The demo server's wire: envelopes, ids, models, caches, scripts, and that the same request gets the same reply.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../lib/core/json.ts";
import { createDemoModelServer, type DemoModelServer } from "../../lib/demo-model/server.ts";

let server: DemoModelServer;
beforeEach(async () => {
  server = await createDemoModelServer();
});
afterEach(() => server.close());

const hello = { model: "demo", max_tokens: 100, messages: [{ role: "user", content: "hello" }] };
const post = (body: unknown, path = "/v1/messages") =>
  fetch(server.url + path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
const ask = async (body: unknown) => (await (await post(body)).json()) as JsonObject & { usage: JsonObject };

describe("the demo model server", () => {
  it("answers JSON when no stream is asked for, and says what it is", async () => {
    const response = await post(hello);
    expect(response.headers.get("request-id")).toMatch(/^req_/);
    expect(await response.json()).toMatchObject({
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: expect.stringContaining("not an LLM") }],
      stop_reason: "end_turn",
      usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
    });
  });

  it("streams text in several pieces that make up the same reply", async () => {
    const whole = await ask(hello);
    const text = await (await post({ ...hello, stream: true })).text();
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
    expect(events[0].type).toBe("message_start");
    expect(events.at(-1)).toEqual({ type: "message_stop" });
    const deltas = events.filter((event) => event.type === "content_block_delta").map((event) => event.delta.text);
    expect(deltas.length).toBeGreaterThan(5);
    expect([{ type: "text", text: deltas.join("") }]).toEqual(whole.content);
  });

  it("gives the same request the same reply, ids included", async () => {
    const other = { ...hello, messages: [{ role: "user", content: "other" }] };
    const [a, b, c] = [await ask(hello), await ask(hello), await ask(other)];
    expect(a).toEqual(b);
    expect(c.id).not.toBe(a.id);
  });

  it("lists one model and counts tokens", async () => {
    expect(await (await fetch(`${server.url}/v1/models`)).json()).toMatchObject({
      data: [{ id: "demo" }],
      has_more: false,
    });
    const { max_tokens: _, ...counted } = hello;
    expect(await (await post(counted, "/v1/messages/count_tokens")).json()).toEqual({
      input_tokens: (await ask(hello)).usage.input_tokens,
    });
  });

  it.each([
    ["{", 400, "invalid_request_error"],
    ["", 400, "invalid_request_error"],
    [JSON.stringify({ model: "demo" }), 400, "invalid_request_error"],
  ])("refuses the body %j with an envelope", async (body, status, type) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ type: "error", error: { type }, request_id: /^req_/ });
  });

  it("knows no other paths", async () => {
    expect((await fetch(`${server.url}/v1/other`)).status).toBe(404);
    expect((await fetch(`${server.url}/v1/messages`)).status).toBe(404);
  });

  it("uses up pushed lines first, then plays by rules", async () => {
    server.push({ text: "scripted" });
    expect((await ask(hello)).content).toEqual([{ type: "text", text: "scripted" }]);
    expect((await ask(hello)).content).not.toEqual([{ type: "text", text: "scripted" }]);
  });

  it("stops at max_tokens like any model", async () => {
    expect(await ask({ ...hello, max_tokens: 5 })).toMatchObject({
      stop_reason: "max_tokens",
      content: [{ text: /^.{20}$/ }],
    });
  });

  it("says so when a script has run out of lines, in a way that is not tried again", async () => {
    const scripted = await createDemoModelServer({ script: [{ text: "only one" }] });
    const statuses = [];
    for (let i = 0; i < 2; i++) {
      const response = await fetch(`${scripted.url}/v1/messages`, { method: "POST", body: JSON.stringify(hello) });
      statuses.push(response.status, await response.text());
    }
    await scripted.close();
    expect(statuses).toEqual([200, expect.any(String), 400, expect.stringContaining("run out of lines")]);
  });

  it("does not use up a line for a request that is not valid", async () => {
    server.push({ text: "mine" });
    expect((await post({ model: "demo" })).status).toBe(400);
    expect((await ask(hello)).content).toEqual([{ type: "text", text: "mine" }]);
  });
});

describe("the simulated prompt cache", () => {
  const mark = { cache_control: { type: "ephemeral" } };
  const long = "Rules apply. ".repeat(1000);
  const text = (value: string, more: JsonObject = {}) => ({ type: "text", text: value, ...more });
  const usageOf = async (system: unknown, ...contents: unknown[]) => {
    const messages = contents.map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content }));
    const { usage } = await ask({ model: "demo", max_tokens: 5, system, messages });
    return {
      write: Number(usage.cache_creation_input_tokens),
      read: Number(usage.cache_read_input_tokens),
      plain: Number(usage.input_tokens),
    };
  };

  it("writes a marked prefix once and reads it while it is the same to the letter", async () => {
    const first = await usageOf([text(long, mark)], "a");
    const again = await usageOf([text(long, mark)], "b");
    const changed = await usageOf([text(`${long}!`, mark)], "b");
    expect(first).toMatchObject({ read: 0 });
    expect(first.write).toBeGreaterThan(3000);
    expect(again).toMatchObject({ read: first.write, write: 0 });
    expect(changed.read).toBe(0);
    expect(first.plain).toBeLessThan(20);
  });

  it("finds an earlier mark when the conversation has grown past it", async () => {
    const one = await usageOf([text("s")], [text(long, mark)]);
    const two = await usageOf([text("s")], [text(long)], [text("ok")], [text("more", mark)]);
    expect(two.read).toBe(one.write);
    expect(two.write).toBeGreaterThan(0);
  });

  it("caches nothing unmarked and nothing below the shortest length", async () => {
    expect(await usageOf([text(long)], "a")).toMatchObject({ read: 0, write: 0 });
    expect(await usageOf([text("short", mark)], "a")).toMatchObject({ read: 0, write: 0 });
  });
});
