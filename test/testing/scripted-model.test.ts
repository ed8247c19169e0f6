// The scripted model throws and answers what the real adapter does over the wire for the same line.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAnthropicModel } from "../../lib/adapters/anthropic.ts";
import type { ScriptLine } from "../../lib/demo-model/script-line.ts";
import { createDemoModelServer, type DemoModelServer } from "../../lib/demo-model/server.ts";
import type { Model, ModelRequest } from "../../lib/ports/model.ts";
import { scriptedModel } from "../../lib/testing/scripted-model.ts";

const request: ModelRequest = {
  model: "m",
  maxTokens: 100,
  system: [{ text: "Be kind." }],
  tools: [{ name: "t", description: "T.", inputSchema: { type: "object" } }],
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
};

let server: DemoModelServer;
beforeAll(async () => {
  server = await createDemoModelServer({ script: [] });
});
afterAll(() => server.close());

/** What a caller can see of a call: the reply without ids and counts, or the error by name and data. */
async function seen(model: Model): Promise<unknown> {
  const texts: string[] = [];
  try {
    const {
      requestId: _,
      usage,
      content,
      ...reply
    } = await model.reply(request, { onText: (text) => texts.push(text) });
    expect(usage.inputTokens).toBeGreaterThan(0);
    const plain = content.map((block) =>
      block.type === "call" ? { ...block, id: "" } : block.type === "thinking" ? { ...block, signature: "" } : block,
    );
    return { ...reply, content: plain, texts };
  } catch (error) {
    const { name, retryAfterMs, partial } = error as { name: string; retryAfterMs?: number; partial?: string };
    return { name, retryAfterMs, partial, texts };
  }
}

describe("scriptedModel", () => {
  it.each<[ScriptLine]>([
    [{ text: "two words" }],
    [{ calls: [{ name: "t", input: { a: [1] } }, { name: "t" }], text: "go" }],
    [{ calls: [{ name: "a.b", raw: '{"a" 1}' }] }],
    [{ calls: [{ name: "t", input: { a: 1 } }], stop: "max_tokens" }],
    [{ text: "no", stop: "refusal" }],
    [{ text: "wait", stop: "pause_turn" }],
    [{ text: "?", stop: "brand_new" }],
    [{ thinking: "hm", blocks: [{ type: "redacted_thinking", data: "x" }], text: "so" }],
    [{ fault: 429, retryAfter: 16 }],
    [{ fault: 429, retryAfter: "soon" }],
    [{ fault: 529 }],
    [{ fault: 500 }],
    [{ fault: 401 }],
    [{ fault: 404 }],
    [{ fault: "cut", afterTokens: 4 }],
    [{ fault: "end_early", text: "a b c d" }],
    [{ fault: "overloaded_mid_stream" }],
    [{ fault: "overloaded_mid_stream", afterTokens: 0 }],
    [{ fault: "cut_in_tool_json" }],
  ])("plays %j as the adapter sees it on the wire (H37, H40, H41, H43, H44)", async (line) => {
    server.push(line);
    const wire = await seen(createAnthropicModel({ baseURL: server.url }));
    expect(await seen(scriptedModel([line]))).toEqual(wire);
  });

  it("records requests and says so when its lines have run out", async () => {
    const model = scriptedModel([{ text: "one" }]);
    await model.reply(request);
    await expect(model.reply(request)).rejects.toMatchObject({
      name: "InvalidInput",
      message: /has 1 lines, and this is call 2/,
    });
    expect(model.requests).toEqual([request, request]);
  });

  it("hangs until its signal ends it", async () => {
    const stop = new AbortController();
    const pending = scriptedModel([{ fault: "hang" }]).reply(request, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(pending).rejects.toThrow("enough");
  });
});
