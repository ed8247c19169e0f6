// Requests as the adapter writes them, and events as it reads them, without a network.
import { describe, expect, it } from "vitest";
import { parseRetryAfter } from "../../lib/adapters/anthropic-errors.ts";
import { fromEvents, toRequest } from "../../lib/adapters/anthropic-messages.ts";
import type { Message } from "../../lib/core/content.ts";
import type { ModelRequest } from "../../lib/ports/model.ts";

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const base: ModelRequest = { model: "m", maxTokens: 10, system: [], tools: [], messages: [user("a")] };
const mark = { type: "ephemeral" };

describe("toRequest", () => {
  it("leaves out what is not there", () => {
    expect(toRequest(base)).toEqual({
      model: "m",
      max_tokens: 10,
      stream: true,
      messages: [{ role: "user", content: [{ type: "text", text: "a" }] }],
    });
  });

  it("sets cache marks on system parts and after the last block of messages", () => {
    const body = toRequest({
      ...base,
      system: [{ text: "one", cache: true }, { text: "two" }, { text: " " }],
      messages: [user("a"), { role: "assistant", content: [{ type: "text", text: "b" }] }, user("c")],
      cacheMessages: [2, 0],
    });
    expect(body.system).toEqual([
      { type: "text", text: "one", cache_control: mark },
      { type: "text", text: "two" },
    ]);
    expect(body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "a", cache_control: mark }] },
      { role: "assistant", content: [{ type: "text", text: "b" }] },
      { role: "user", content: [{ type: "text", text: "c", cache_control: mark }] },
    ]);
  });

  it("sets at most four marks, keeping the system's and the newest messages'", () => {
    const marked = (request: Partial<ModelRequest>) => {
      const body = toRequest({ ...base, messages: [0, 1, 2, 3, 4].map((n) => user(`${n}`)), ...request });
      return JSON.stringify(body)
        .match(/"text":"\w+","cache_control"/g)
        ?.map((found) => found.slice(8, -17));
    };
    const system = (count: number) => Array.from({ length: count }, (_, i) => ({ text: `s${i}`, cache: true }));
    expect(marked({ cacheMessages: [0, 1, 2, 3, 4, 4] })).toEqual(["1", "2", "3", "4"]);
    expect(marked({ system: system(1), cacheMessages: [0, 1, 2, 3, 4] })).toEqual(["s0", "2", "3", "4"]);
    expect(marked({ system: system(5), cacheMessages: [4] })).toEqual(["s1", "s2", "s3", "s4"]);
  });

  it("never marks thinking, which takes no mark", () => {
    const thinking = { type: "thinking" as const, issuer: "m", thinking: "t", signature: "s" };
    const messages: Message[] = [user("a"), { role: "assistant", content: [{ type: "text", text: "b" }, thinking] }];
    expect(toRequest({ ...base, messages, cacheMessages: [1] }).messages[1]).toEqual({
      role: "assistant",
      content: [
        { type: "text", text: "b", cache_control: mark },
        { type: "thinking", thinking: "t", signature: "s" },
      ],
    });
  });

  it("names the tools of a history when the request has none, and forbids their use", () => {
    const messages: Message[] = [
      user("a"),
      { role: "assistant", content: [{ type: "call", id: "1", name: "gone", input: {} }] },
      { role: "user", content: [{ type: "result", callId: "1", content: [], isError: false }] },
    ];
    expect(toRequest({ ...base, messages })).toMatchObject({
      tools: [{ name: "gone" }],
      tool_choice: { type: "none" },
    });
  });

  it("sends pictures as base64 sources", () => {
    const messages: Message[] = [{ role: "user", content: [{ type: "image", mediaType: "image/png", data: "aGk=" }] }];
    expect(toRequest({ ...base, messages }).messages[0]?.content).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
    ]);
  });
});

describe("fromEvents", () => {
  const read = (...events: { type: string; [field: string]: unknown }[]) => {
    const reader = fromEvents("alias");
    for (const event of events) reader.add(event);
    return reader;
  };
  const start = { type: "message_start", message: { model: "dated", usage: { input_tokens: 7, output_tokens: 1 } } };
  const stop = { type: "message_stop" };
  const ended = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } };

  it("has no reply before the final event (H43)", () => {
    expect(read(start, ended).reply()).toBeNull();
    expect(read(stop).reply()).toBeNull();
    expect(read(start, ended, stop).reply()).toMatchObject({ model: "dated", content: [], stop: "end_turn" });
  });

  it("takes the counts of the final event over those of the first", () => {
    const usage = { inputTokens: 7, outputTokens: 9, cacheReadTokens: 0, cacheWriteTokens: 0 };
    expect(read(start, ended, stop).reply()?.usage).toEqual(usage);
    const recounted = { ...ended, usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 9 } };
    expect(read(start, recounted, stop).reply()?.usage).toEqual({ ...usage, inputTokens: 3, cacheReadTokens: 4 });
  });

  it("passes over events and deltas of an unknown kind", () => {
    const odd = { type: "content_block_delta", index: 0, delta: { type: "brand_new_delta", x: 1 } };
    const block = { type: "content_block_start", index: 0, content_block: { type: "text", text: "hi" } };
    expect(read(start, { type: "brand_new" }, odd, block, odd, ended, stop).reply()?.content).toEqual([
      { type: "text", text: "hi" },
    ]);
  });

  it("joins a surrogate pair that two deltas share, and replaces a half that stays alone", () => {
    const text = (value: string) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: value },
    });
    const block = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
    const reply = read(start, block, text("a\ud83d"), text("\ude00b\ud83d"), ended, stop).reply();
    expect(reply?.content).toEqual([{ type: "text", text: "a\u{1f600}b\ufffd" }]);
  });

  it("gathers the arguments of a server tool into its block", () => {
    const block = {
      type: "content_block_start",
      index: 0,
      content_block: { type: "server_tool_use", id: "s", input: {} },
    };
    const delta = {
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: '{"q":1}' },
    };
    expect(read(start, block, delta, ended, stop).reply()?.content).toEqual([
      { type: "opaque", issuer: "alias", data: { type: "server_tool_use", id: "s", input: { q: 1 } } },
    ]);
  });

  it("takes a reply without a stop reason as incomplete (H41)", () => {
    expect(read(start, stop).reply()).toMatchObject({ stop: "other", rawStop: "none" });
  });
});

describe("parseRetryAfter (H44)", () => {
  const now = Date.UTC(2026, 0, 1);
  const parse = (headers: Record<string, string>) => parseRetryAfter(new Headers(headers), now);
  const inTen = "Thu, 01 Jan 2026 00:00:10 GMT";

  it("reads a date against the server's clock, else against ours", () => {
    expect(parse({ "retry-after": inTen })).toBe(10_000);
    expect(parse({ "retry-after": inTen, date: "Thu, 01 Jan 2026 00:00:04 GMT" })).toBe(6000);
    expect(parse({ "retry-after": "Wed, 31 Dec 2025 23:00:00 GMT" })).toBeUndefined();
  });

  it("prefers milliseconds where the server sent them, and passes over bad ones", () => {
    expect(parse({ "retry-after-ms": "1500.5", "retry-after": "9" })).toBe(1501);
    expect(parse({ "retry-after-ms": "x", "retry-after": "9" })).toBe(9000);
  });

  it("answers nothing for no header", () => {
    expect(parse({})).toBeUndefined();
    expect(parseRetryAfter(undefined, now)).toBeUndefined();
  });
});
