// The Anthropic adapter through the real SDK, over the wire, against the demo server.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AnthropicOptions, createAnthropicModel } from "../../lib/adapters/anthropic.ts";
import type { CallBlock, Message, StopReason } from "../../lib/core/content.ts";
import type { BatonError } from "../../lib/core/errors.ts";
import type { ScriptLine } from "../../lib/demo-model/script-line.ts";
import { createDemoModelServer, type DemoModelServer } from "../../lib/demo-model/server.ts";
import type { ModelRequest } from "../../lib/ports/model.ts";

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const search = { name: "search", description: "Searches.", inputSchema: { type: "object", properties: {} } };
const hello: ModelRequest = { model: "m-1", maxTokens: 1000, system: [], tools: [search], messages: [user("hello")] };

let server: DemoModelServer;
beforeEach(async () => {
  server = await createDemoModelServer({ script: [] });
});
afterEach(() => server.close());

const modelOf = (options: AnthropicOptions = {}) =>
  createAnthropicModel({ apiKey: "sk-ant-secret-1", baseURL: server.url, ...options });

function reply(line: ScriptLine, request: Partial<ModelRequest> = {}, options: AnthropicOptions = {}) {
  server.push(line);
  return modelOf(options).reply({ ...hello, ...request });
}

async function failure(line: ScriptLine, options: AnthropicOptions = {}): Promise<BatonError & { partial?: string }> {
  return reply(line, {}, options).then(
    () => expect.unreachable("the reply must fail"),
    (error: unknown) => error as BatonError,
  );
}

describe("a reply", () => {
  it("comes whole, with usage, ids and its text as it arrives", async () => {
    const seen: string[] = [];
    server.push({ text: "Good morning to you.", calls: [{ name: "search", input: { q: "x", n: [1] } }] });
    const got = await modelOf().reply(hello, { onText: (text) => seen.push(text) });
    expect(got).toMatchObject({
      model: "m-1",
      content: [
        { type: "text", text: "Good morning to you." },
        { type: "call", id: expect.stringMatching(/^toolu_/), name: "search", input: { q: "x", n: [1] } },
      ],
      stop: "tool_use",
      requestId: expect.stringMatching(/^req_/),
    });
    expect(got.content[1]).not.toHaveProperty("invalid");
    expect(seen).toEqual(["Good ", "morning ", "to ", "you."]);
    expect(got.usage).toMatchObject({ cacheReadTokens: 0, cacheWriteTokens: 0 });
    expect(got.usage.inputTokens).toBeGreaterThan(5);
    expect(got.usage.outputTokens).toBeGreaterThan(5);
    expect(server.requests[0]).toMatchObject({ path: "/v1/messages", body: { stream: true, max_tokens: 1000 } });
  });

  it("is not broken by a watcher that throws", async () => {
    server.push({ text: "fine" });
    const onText = () => {
      throw new Error("a broken console");
    };
    expect((await modelOf().reply(hello, { onText })).content).toEqual([{ type: "text", text: "fine" }]);
  });

  it("holds a call without arguments as an empty object", async () => {
    expect((await reply({ calls: [{ name: "search" }] })).content).toMatchObject([{ input: {} }]);
  });

  it.each<[string, StopReason]>([
    ["end_turn", "end_turn"],
    ["max_tokens", "max_tokens"],
    ["refusal", "refusal"],
    ["pause_turn", "pause_turn"],
    ["stop_sequence", "stop_sequence"],
  ])("maps the stop reason %s", async (given, stop) => {
    const got = await reply({ text: "x", stop: given });
    expect(got.stop).toBe(stop);
    expect(got).not.toHaveProperty("rawStop");
  });

  it.each(["brand_new", "model_context_window_exceeded"])(
    "takes the stop reason %s as incomplete, with its own word (H41)",
    async (given) => {
      expect(await reply({ text: "x", stop: given })).toMatchObject({ stop: "other", rawStop: given });
    },
  );

  it("reads cache writes and reads apart from other input", async () => {
    const request: Partial<ModelRequest> = { system: [{ text: "Rules. ".repeat(2000), cache: true }] };
    const first = await reply({ text: "one" }, request);
    const second = await reply({ text: "two" }, { ...request, messages: [user("something else")] });
    expect(first.usage.cacheWriteTokens).toBeGreaterThan(3000);
    expect(first.usage.cacheReadTokens).toBe(0);
    expect(second.usage).toMatchObject({ cacheReadTokens: first.usage.cacheWriteTokens, cacheWriteTokens: 0 });
    expect(second.usage.inputTokens).toBeLessThan(100);
  });

  it("counts tokens of a request", async () => {
    const count = modelOf().countTokens;
    const few = await count?.(hello);
    const many = await count?.({ ...hello, messages: [user("word ".repeat(500))] });
    expect(few).toBeGreaterThan(0);
    expect(many).toBeGreaterThan(Number(few) + 400);
    expect(server.requests.map((request) => request.path)).toEqual(Array(2).fill("/v1/messages/count_tokens"));
  });
});

describe("arguments of a call", () => {
  const callOf = async (line: ScriptLine) => (await reply(line)).content.at(-1) as CallBlock;

  it.each([
    ['{"a" 1}', "the arguments are not valid JSON"],
    ["[]", "the arguments must be a JSON object, not an array"],
    ["null", "the arguments must be a JSON object, not null"],
    ['"text"', "the arguments must be a JSON object, not a string"],
    ['{"n": 1e400}', "the input is not JSON: $.n: Infinity has no JSON form"],
    ['{"t": "\\ud83d"}', "the input is not JSON: $.t: text holds half of a surrogate pair"],
  ])("that are %s are kept raw and marked, never run (H37)", async (raw, invalid) => {
    expect(await callOf({ calls: [{ name: "search", raw }] })).toMatchObject({ input: {}, raw, invalid });
  });

  it("keeps tool names a.b, empty and 200 characters as they came (H37)", async () => {
    for (const name of ["a.b", "", "n".repeat(200)]) expect((await callOf({ calls: [{ name }] })).name).toBe(name);
  });

  it("cut by the output limit are marked, also where the cut JSON parses (H40)", async () => {
    const why = "cut off by the output limit";
    const whole = { name: "search", input: { a: 1 } };
    const parses = await reply({ calls: [whole, { name: "search", raw: '{"to":"all"}' }], stop: "max_tokens" });
    expect(parses.content).toMatchObject([
      { input: { a: 1 } },
      { input: { to: "all" }, raw: '{"to":"all"}', invalid: why },
    ]);
    expect(parses.content[0]).not.toHaveProperty("invalid");
    expect(await callOf({ calls: [{ name: "search", raw: '{"to":"al' }], stop: "max_tokens" })).toMatchObject({
      input: {},
      raw: '{"to":"al',
      invalid: why,
    });
  });

  it("of a refused reply or one with an unknown stop reason are marked (H41)", async () => {
    const calls = [{ name: "search" }, { name: "search" }];
    const marks = async (stop: string) =>
      (await reply({ calls, stop })).content.map((block) =>
        block.type === "call" ? block.invalid !== undefined : null,
      );
    expect(await marks("refusal")).toEqual([true, true]);
    expect(await marks("brand_new")).toEqual([false, true]);
    expect(await marks("tool_use")).toEqual([false, false]);
  });
});

describe("thinking and other blocks (H46)", () => {
  const redacted = { type: "redacted_thinking", data: "EncRyPted==" };
  const brandNew = { type: "brand_new_block", inner: [{ n: 1 }] };

  it("are kept byte for byte with the id that was asked for as issuer", async () => {
    const got = await reply({ thinking: " let me\nsee ", blocks: [redacted, brandNew], text: "done" });
    expect(got.content).toEqual([
      { type: "thinking", issuer: "m-1", thinking: " let me\nsee ", signature: expect.stringMatching(/^demo-/) },
      { type: "opaque", issuer: "m-1", data: redacted },
      { type: "opaque", issuer: "m-1", data: brandNew },
      { type: "text", text: "done" },
    ]);
  });

  it("go back unchanged to their issuer and to no other model", async () => {
    const first = await reply({ thinking: "hm", blocks: [redacted], calls: [{ name: "search", id: "toolu_1" }] });
    const messages: Message[] = [
      user("hello"),
      { role: "assistant", content: first.content },
      {
        role: "user",
        content: [{ type: "result", callId: "toolu_1", content: [{ type: "text", text: "r" }], isError: true }],
      },
    ];
    await reply({ text: "ok" }, { messages });
    await reply({ text: "ok" }, { messages, model: "m-2" });
    const sent = server.requests.slice(1).map(({ body }) => (body as { messages: { content: unknown }[] }).messages);
    const call = { type: "tool_use", id: "toolu_1", name: "search", input: {} };
    const signature = expect.stringMatching(/^demo-/);
    expect(sent[0]?.[1]?.content).toEqual([{ type: "thinking", thinking: "hm", signature }, redacted, call]);
    expect(sent[1]?.[1]?.content).toEqual([call]);
    expect(sent[1]?.[2]?.content).toEqual([
      { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "r" }], is_error: true },
    ]);
  });
});

describe("a stream that breaks (H43)", () => {
  const forty = Array.from({ length: 40 }, (_, i) => `word${i + 1} `).join("");

  it("with an overload before the first token is an overload", async () => {
    const error = await failure({ fault: "overloaded_mid_stream", afterTokens: 0 });
    expect(error).toMatchObject({ name: "ModelOverloaded", disposition: "Transient" });
  });

  it.each(["overloaded_mid_stream", "cut", "end_early"] as const)(
    "after 40 tokens (%s) is cut, its text kept apart",
    async (fault) => {
      const seen: string[] = [];
      server.push({ fault, afterTokens: 40 });
      const error = await modelOf()
        .reply(hello, { onText: (text) => seen.push(text) })
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "ModelStreamCut", disposition: "Transient", partial: forty });
      expect(seen.join("")).toBe(forty);
    },
  );

  it("inside a call's arguments is cut and makes no call", async () => {
    expect(await failure({ fault: "cut_in_tool_json" })).toMatchObject({ name: "ModelStreamCut", partial: "" });
  });

  it.each(["cut", "end_early"] as const)("before the first token (%s) is no reply", async (fault) => {
    const error = await failure({ fault, afterTokens: 0 });
    expect(["ModelUnavailable", "ModelStreamCut"]).toContain(error.name);
    expect(error.partial ?? "").toBe("");
  });

  it("that goes silent ends at the time limit, before and after the first token", async () => {
    const limit = { timeoutMs: 60 };
    expect(await failure({ fault: "hang" }, limit)).toMatchObject({ name: "ModelUnavailable" });
    const late = await failure({ fault: "hang", afterTokens: 2 }, { timeoutMs: 1000 });
    expect(late).toMatchObject({ name: "ModelStreamCut", partial: "word1 word2 " });
  });

  it("because the caller gave up throws the caller's reason", async () => {
    server.push({ fault: "hang", afterTokens: 1 });
    const stop = new AbortController();
    const reason = new Error("shutting down");
    const pending = modelOf().reply(hello, { signal: stop.signal, onText: () => stop.abort(reason) });
    await expect(pending).rejects.toBe(reason);
  });
});

describe("errors of the model", () => {
  it.each([
    [400, "ModelRejected"],
    [401, "ModelAuthFailed"],
    [402, "ModelRejected"],
    [403, "ModelAuthFailed"],
    [404, "ModelRejected"],
    [408, "ModelUnavailable"],
    [413, "ModelRejected"],
    [429, "ModelRateLimited"],
    [500, "ModelUnavailable"],
    [502, "ModelUnavailable"],
    [504, "ModelUnavailable"],
    [529, "ModelOverloaded"],
  ])("status %i is %s, asked once and never repeated by the SDK", async (fault, name) => {
    const error = await failure({ fault, message: "said the provider" });
    expect(error).toMatchObject({ name, message: expect.stringMatching(/^said the provider \(request req_/) });
    expect(server.requests).toHaveLength(1);
  });

  it("a server that is not there is unavailable", async () => {
    await server.close();
    await expect(modelOf().reply(hello)).rejects.toMatchObject({ name: "ModelUnavailable", message: /ECONNREFUSED/ });
    server = await createDemoModelServer();
  });

  it.each([
    ["1", 1000],
    ["16", 16_000],
    ["13262", 13_262_000],
    ["0", 0],
    ["-5", undefined],
    ["soon", undefined],
    ["", undefined],
    ["99999999999999999999", undefined],
    ["Thu, 01 Jan 2026 00:00:00 GMT", undefined],
  ])("retry-after %s is %s ms (H44)", async (retryAfter, retryAfterMs) => {
    const error = await failure({ fault: 429, retryAfter });
    expect(error).toMatchObject({ name: "ModelRateLimited", retryAfterMs });
  });

  it("never holds the key, even where the provider repeats it (G20)", async () => {
    const error = await failure({ fault: 401, message: "invalid key sk-ant-secret-1" });
    expect(error.message).toContain("invalid key [secret]");
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("sk-ant-secret-1");
  });

  it("a key that no header can hold is refused without naming it (G20)", () => {
    for (const apiKey of ["sk-ant\nsecret", "sk ant", "schlüssel"]) {
      expect(() => createAnthropicModel({ apiKey })).toThrow(/^apiKey: holds characters that no key has$/);
    }
    expect(() => createAnthropicModel({ apiKey: "a", authToken: "b" })).toThrow(/not both/);
    expect(() => createAnthropicModel({ timeoutMs: 0 })).toThrow(/timeoutMs/);
  });
});

describe("credentials", () => {
  const sent = async (options: AnthropicOptions) => {
    server.push({ text: "x" });
    await createAnthropicModel({ baseURL: server.url, ...options }).reply(hello);
    return server.requests.at(-1)?.headers.authorization;
  };
  it("are what was given, and none where none was", async () => {
    expect(await sent({ apiKey: "k" })).toBe("Bearer k");
    expect(await sent({ authToken: "t" })).toBe("Bearer t");
    expect(await sent({})).toBeUndefined();
  });
});

describe("a server that speaks nonsense", () => {
  let odd: Server;
  let body = "";
  beforeEach(async () => {
    odd = createServer((request, response) => {
      request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(body));
    });
    await new Promise<void>((resolve) => odd.listen(0, "127.0.0.1", resolve));
  });
  afterEach(() => new Promise((resolve) => odd.close(resolve)));
  const ask = () => modelOf({ baseURL: `http://127.0.0.1:${(odd.address() as AddressInfo).port}` }).reply(hello);

  it("is a cut stream, and its text stays out of the error (G20)", async () => {
    body = `event: message_start\ndata: {"type":"message_start","message":{}}\n\nevent: content_block_delta\ndata: {secret text\n\n`;
    const error = await ask().catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({
      name: "ModelUnavailable",
      message: "the model call failed: an event of the stream is not JSON",
    });
  });

  it("with only a final event has made no reply (H43)", async () => {
    body = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
    await expect(ask()).rejects.toMatchObject({ name: "ModelStreamCut" });
  });
});
