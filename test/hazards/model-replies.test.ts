// Replies that are cut, paused, broken or strange (H37, H40, H41, H43, H46), over the wire, through the real steps and
// machine.
import { defineAgent, defineTool } from "baton";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import type { Json } from "../../lib/core/json.ts";
import { settledTurn } from "../../lib/sessions/wait.ts";
import { createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { type Wired, wired } from "../support/wired-model.ts";

let ran: string[] = [];
beforeEach(() => {
  ran = [];
});
const send = defineTool({
  name: "send",
  description: "sends",
  input: z.object({ to: z.string() }),
  effect: "once",
  run: ({ to }) => {
    ran.push(to);
    return "sent";
  },
});
const agent = defineAgent({
  name: "replier",
  instructions: "Answer.",
  model: { id: "claude-haiku-4-5" },
  tools: [send],
});
const call = (to: string) => ({ name: "send", input: { to } });

type Body = { messages: { role: string; content: { [field: string]: Json }[] }[] };
const bodies = (at: Wired) => at.server.requests.map(({ body }) => body as unknown as Body);
const lastUser = (body: Body | undefined) => JSON.stringify(body?.messages.at(-1));

let at: Wired;
afterEach(() => at.close());

describe("a reply cut by the output limit", () => {
  it("in the middle of a call runs nothing, also where the cut JSON parses, and asks to be shorter (H40)", async () => {
    at = await wired(
      [agent],
      [
        { calls: [{ name: "send", raw: '{"to":"bo' }], stop: "max_tokens" },
        { calls: [{ name: "send", raw: '{"to":"bob"}' }], stop: "max_tokens" },
        { text: "short" },
      ],
    );
    const { sessionId, end } = await at.turn("go");
    expect(end).toMatchObject({ endReason: "completed", answer: "short" });
    expect(ran).toEqual([]);
    for (const body of bodies(at).slice(1)) {
      expect(lastUser(body)).toContain('"is_error":true');
      expect(lastUser(body)).toContain("Be shorter");
    }
    const replies = await at.events(sessionId, "model.replied");
    expect(replies[0]?.content).toEqual([expect.objectContaining({ type: "call", raw: '{"to":"bo' })]);
  });

  it("again and again ends the turn, and the user sees that it is truncated (H40)", async () => {
    at = await wired(
      [agent],
      Array.from({ length: 5 }, () => ({ text: "too long", stop: "max_tokens" })),
    );
    const { end } = await at.turn("go");
    expect(end).toMatchObject({ status: "error", endReason: "truncated" });
    expect(end?.answer).toMatch(/^too long\n\n.*truncated/s);
    expect(at.server.requests.length).toBe(3);
  });
});

describe("a paused reply", () => {
  it("goes back unchanged and is continued, twice (H41)", async () => {
    const search = { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "x" } };
    const paused = (text: string) => ({ text, blocks: [search], stop: "pause_turn" });
    at = await wired([agent], [paused("one"), paused("two"), { text: "done" }]);
    const { sessionId, end } = await at.turn("go");
    expect(end).toMatchObject({ endReason: "completed", answer: "done" });
    const last = bodies(at)[2]?.messages ?? [];
    expect(last.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(last[1]?.content).toEqual([
      search,
      { type: "text", text: "one" },
      search,
      expect.objectContaining({ type: "text", text: "two" }),
    ]);
    expect((await at.events(sessionId, "model.replied")).map(({ stop }) => stop)).toEqual([
      "pause_turn",
      "pause_turn",
      "end_turn",
    ]);
  });

  it("50 times in a row is capped, and is no success (H41)", async () => {
    at = await wired(
      [agent],
      Array.from({ length: 50 }, () => ({ text: "…", stop: "pause_turn" })),
    );
    const { end } = await at.turn("go");
    expect(end).toMatchObject({ status: "error", endReason: "incomplete" });
    expect(at.server.requests.length).toBe(10);
  });

  it("is continued by the process after a crash, from what was stored (H41)", async () => {
    const lines = [{ text: "one", stop: "pause_turn" }, { text: "two", stop: "pause_turn" }, { text: "done" }];
    at = await wired([agent], lines);
    // Dies as the second pause is about to be stored.
    let replies = 0;
    const dying = createFaultyTable(at.table, [
      {
        fault: "death before",
        on: ({ op, item }) => op === "put" && item?.type === "model.replied" && ++replies === 2,
      },
    ]);
    const first = await wired([agent], [], { server: at.server, table: dying, blobs: at.blobs, clock: at.clock });
    const { sessionId } = await first.send("go");
    await first.idle();
    expect(dying.dead).toBe(true);
    await first.stop(0).catch(() => {});
    await at.boot();
    await at.idle();
    expect(await settledTurn(at.deps, "acme", sessionId, 1)).toMatchObject({ endReason: "completed", answer: "done" });
    const contents = (await at.events(sessionId, "model.replied")).map(({ stop }) => stop);
    expect(contents).toEqual(["pause_turn", "end_turn"]);
  });
});

describe("a reply with a brand-new stop reason", () => {
  it("is incomplete, never success; its calls do not run, its word is kept (H41)", async () => {
    at = await wired(
      [agent],
      [
        { text: "half", stop: "brand_new" },
        { calls: [call("ann"), call("bob")], stop: "brand_new" },
        { text: "whole" },
      ],
    );
    const { sessionId, end } = await at.turn("go");
    expect(end).toMatchObject({ status: "error", endReason: "incomplete" });
    expect(end?.answer).toMatch(/^half\n\n/);
    expect(await at.events(sessionId, "model.replied")).toEqual([
      expect.objectContaining({ stop: "other", rawStop: "brand_new" }),
    ]);
    expect((await at.turn("again")).end).toMatchObject({ endReason: "incomplete" });
    expect(ran).toEqual([]);
    expect((await at.turn("and now")).end).toMatchObject({ answer: "whole" });
  });
});

describe("a reply that was refused", () => {
  it("runs none of its calls and is said to be declined", async () => {
    at = await wired([agent], [{ calls: [call("ann"), call("bob")], stop: "refusal" }, { text: "fine" }]);
    const { end } = await at.turn("go");
    expect((await at.turn("something else")).end).toMatchObject({ answer: "fine" });
    expect(ran).toEqual([]);
    expect(end?.status).toBe("error");
    expect(end?.endReason).toBe("refusal");
  });
});

describe("a stream that breaks off", () => {
  const faults = [
    {
      name: "overloaded before the first token",
      line: { fault: "overloaded_mid_stream", afterTokens: 0 },
      partial: "",
    },
    {
      name: "overloaded after 40 tokens",
      line: { fault: "overloaded_mid_stream", afterTokens: 40 },
      partial: "word40",
    },
    { name: "dropped in a call's arguments", line: { fault: "cut_in_tool_json" }, partial: "" },
    { name: "dropped", line: { fault: "cut", afterTokens: 5 }, partial: "word5" },
    { name: "closed politely without its final event", line: { fault: "end_early", afterTokens: 5 }, partial: "word5" },
  ] as const;
  for (const { name, line, partial } of faults) {
    it(`(${name}) is no reply: kept as interrupted, never sent, asked again (H43)`, async () => {
      at = await wired([agent], [line, { text: "whole" }]);
      const { sessionId, end } = await at.turn("go");
      expect(end).toMatchObject({ endReason: "completed", answer: "whole" });
      const [failed] = await at.events(sessionId, "model.failed");
      expect(failed?.partial ?? "").toContain(partial);
      expect(await at.events(sessionId, "model.replied")).toHaveLength(1);
      expect(ran).toEqual([]);
      const [first, second] = bodies(at);
      expect(second).toEqual(first);
    });
  }

  it("(silent) is given up after its time and asked again (H43)", async () => {
    at = await wired([agent], [{ fault: "hang", afterTokens: 3 }, { text: "whole" }], { timeoutMs: 150 });
    const { sessionId, end } = await at.turn("go");
    expect(end).toMatchObject({ endReason: "completed", answer: "whole" });
    expect((await at.events(sessionId, "model.failed"))[0]?.partial).toContain("word3");
  });

  it("is followed by its failure for whoever watches, before the text begins anew (H43)", async () => {
    at = await wired([agent], [{ fault: "cut", text: "The sum is 4, as", afterTokens: 4 }, { text: "The sum is 4." }]);
    const { sessionId, end } = await at.turn("go");
    expect(end?.answer).toBe("The sum is 4.");
    expect(at.shown.filter((text) => text !== "")).toEqual(["The sum is 4, ", "The sum is 4."]);
    expect((await at.log(sessionId)).filter(({ event }) => event.type === "turn.finished")).toHaveLength(1);
  });
});

describe("a call that cannot be read", () => {
  const broken = [
    { name: "broken JSON", call: { name: "send", raw: '{"to" 1}' } },
    { name: "an array", call: { name: "send", raw: "[]" } },
    { name: "null", call: { name: "send", raw: "null" } },
    { name: "a name with a dot", call: { name: "send.now", input: { to: "bob" } } },
    { name: "no name", call: { name: "", input: { to: "bob" } } },
    { name: "a name of 200 characters", call: { name: "s".repeat(200), input: { to: "bob" } } },
  ];
  for (const { name, call: given } of broken) {
    it(`(${name}) is kept as it came, sent in a valid form, not run, and the model is told (H37)`, async () => {
      at = await wired([agent], [{ calls: [given] }, { calls: [call("ann")] }, { text: "done" }]);
      const { sessionId, end } = await at.turn("go");
      // The server refuses what the API would: a request that is not valid ends the turn.
      expect(end).toMatchObject({ endReason: "completed", answer: "done" });
      expect(ran).toEqual(["ann"]);
      const [reply] = await at.events(sessionId, "model.replied");
      const [block] = reply?.content ?? [];
      expect(block).toMatchObject(given.raw === undefined ? { name: given.name } : { raw: given.raw });
      expect(lastUser(bodies(at)[1])).toContain('"is_error":true');
      const sent = bodies(at)[1]?.messages.find(({ role }) => role === "assistant")?.content[0];
      expect(sent?.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(sent?.input).toBeTypeOf("object");
    });
  }
});

describe("thinking", () => {
  const thoughts = (body: Body | undefined) =>
    (body?.messages ?? []).flatMap(({ content }) => content.filter(({ type }) => type === "thinking"));

  it("goes back byte for byte inside the open tool loop, and not in the next turn (H46)", async () => {
    const thinking = "Müller → 会话 ✓ \u0000?".replace("\u0000", "");
    at = await wired([agent], [{ thinking, calls: [call("ann")] }, { text: "done" }, { text: "next" }]);
    await at.turn("go");
    await at.turn("again");
    const [, inLoop, nextTurn] = bodies(at);
    expect(thoughts(inLoop)).toEqual([{ type: "thinking", thinking, signature: expect.any(String) }]);
    expect(thoughts(nextTurn)).toEqual([]);
  });

  it("is not sent to another model, and its turn goes on (H46)", async () => {
    at = await wired([agent], [{ thinking: "hm", calls: [call("ann")] }, { text: "done" }]);
    const dying = createFaultyTable(at.table, [
      { fault: "death after", on: ({ op, item }) => op === "put" && item?.type === "call.finished" },
    ]);
    const first = await wired([agent], [], { server: at.server, table: dying, blobs: at.blobs, clock: at.clock });
    const { sessionId } = await first.send("go");
    await first.idle();
    await first.stop(0).catch(() => {});
    const other = defineAgent({ ...options(), model: { id: "claude-sonnet-5-5" } });
    const second = await wired([other], [], { server: at.server, table: at.table, blobs: at.blobs, clock: at.clock });
    await second.boot();
    await second.idle();
    expect(await settledTurn(second.deps, "acme", sessionId, 1)).toMatchObject({ answer: "done" });
    expect(thoughts(bodies(at)[1])).toEqual([]);
    expect(ran).toEqual(["ann"]);
  });

  it("of a cut stream is never sent (H46, H43)", async () => {
    at = await wired(
      [agent],
      [{ fault: "cut", afterTokens: 3 }, { thinking: "whole", calls: [call("ann")] }, { text: "ok" }],
    );
    await at.turn("go");
    expect(bodies(at).map((body) => thoughts(body).map(({ thinking }) => thinking))).toEqual([[], [], ["whole"]]);
  });
});

function options() {
  return { name: "replier", instructions: "Answer.", tools: [send] };
}
