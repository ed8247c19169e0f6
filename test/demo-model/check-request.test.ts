// The demo server's own strictness, and the proof by it that repaired histories make valid requests (G12).
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toRequest } from "../../lib/adapters/anthropic-messages.ts";
import type { Json, JsonObject } from "../../lib/core/json.ts";
import { repairMessages } from "../../lib/core/repair.ts";
import { checkRequest } from "../../lib/demo-model/check-request.ts";
import { soundHistory, wildHistory } from "../core/repair-histories.ts";

const tools = [{ name: "t", description: "", input_schema: { type: "object" } }];
const use = (id: string, more: JsonObject = {}) => ({ type: "tool_use", id, name: "t", input: {}, ...more });
const result = (id: string, more: JsonObject = {}) => ({ type: "tool_result", tool_use_id: id, ...more });
const talk = (...contents: Json[]): Json => ({
  model: "m",
  max_tokens: 5,
  tools,
  messages: contents.map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content })),
});
const hi = "hi";

describe("checkRequest", () => {
  it("accepts a sound request", () => {
    expect(
      checkRequest(talk(hi, [use("a"), use("b")], [result("b"), result("a"), { type: "text", text: "x" }]), false),
    ).toMatchObject({ model: "m" });
  });

  it.each<[string, Json, RegExp]>([
    ["no max_tokens", { model: "m", messages: [{ role: "user", content: hi }] }, /^max_tokens: /],
    ["a temperature", { ...(talk(hi) as JsonObject), temperature: 1 }, /^temperature: Extra inputs are not permitted$/],
    [
      "an assistant first",
      { ...(talk(hi) as JsonObject), messages: [{ role: "assistant", content: hi }] },
      /first message/,
    ],
    [
      "a blank text",
      talk([{ type: "text", text: " \n" }]),
      /^messages\.0\.content\.0: text content blocks must contain/,
    ],
    ["an empty message", talk([]), /non-empty content/],
    [
      "a call without result",
      talk(hi, [use("a")], hi),
      /^messages\.1: `tool_use` ids were found without `tool_result`.*: a\./,
    ],
    ["a result without call", talk([result("a")]), /^messages\.0: unexpected `tool_use_id`/],
    ["two results of a call", talk(hi, [use("a")], [result("a"), result("a")]), /single result/],
    ["text before results", talk(hi, [use("a")], [{ type: "text", text: "x" }, result("a")]), /must come before/],
    ["a repeated id", talk(hi, [use("a")], [result("a")], [use("a")], [result("a")]), /ids must be unique/],
    ["a bad id", talk(hi, [use("a b")], [result("a b")]), /should match pattern/],
    ["a bad tool name", talk(hi, [use("a", { name: "a.b" })], [result("a")]), /tool_use\.name/],
    ["an input that is a list", talk(hi, [use("a", { input: [] })], [result("a")]), /valid dictionary/],
    ["an empty error", talk(hi, [use("a")], [result("a", { is_error: true })]), /cannot be empty if `is_error`/],
    ["foreign thinking", talk(hi, [{ type: "thinking", thinking: "x", signature: "y" }], hi), /Invalid `signature`/],
    ["a space at the end of a prefill", talk(hi, "so "), /trailing whitespace/],
    ["half a pair", talk("x\ud83d"), /no low surrogate/],
    ["calls but no tools", { ...(talk(hi, [use("a")], [result("a")]) as JsonObject), tools: [] }, /must define tools/],
    ["five marks", talk(Array(5).fill({ type: "text", text: "x", cache_control: { type: "ephemeral" } })), /Found 5/],
  ])("refuses %s", (_, body, fault) => {
    expect(checkRequest(body, false)).toEqual(expect.stringMatching(fault));
  });

  it("accepts whatever the repair makes of any history (G12, H30, H33, H35, H37)", () => {
    // A model that issued none of the thinking: the histories cannot hold a signature that the demo accepts.
    const request = { model: "nobody", maxTokens: 10, system: [], tools: [] };
    fc.assert(
      fc.property(fc.oneof(wildHistory, soundHistory), fc.array(fc.nat(10)), (history, cacheMessages) => {
        const { messages } = repairMessages(history, { model: "nobody" });
        const body = toRequest({ ...request, messages, cacheMessages });
        expect(checkRequest(JSON.parse(JSON.stringify(body)), false)).not.toEqual(expect.any(String));
      }),
      { numRuns: 2000 },
    );
  });
});
