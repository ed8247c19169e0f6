// The one validator-and-repair (G12): each rule by example; the properties are in repair.property.test.ts.
import { describe, expect, it } from "vitest";
import type { AssistantContent, CallBlock, Message, ResultBlock, UserMessage } from "../../lib/core/content.ts";
import { outcomeUnknown, repairMessages, validateMessages } from "../../lib/core/repair.ts";

const user = (...texts: string[]): Message => ({
  role: "user",
  content: texts.map((text) => ({ type: "text", text })),
});
const call = (id: string, name = "search"): CallBlock => ({ type: "call", id, name, input: {} });
const says = (text: string): AssistantContent => ({ type: "text", text });
const assistant = (...content: AssistantContent[]): Message => ({ role: "assistant", content });
const result = (callId: string, text = `of ${callId}`): ResultBlock => ({
  type: "result",
  callId,
  content: [{ type: "text", text }],
  isError: false,
});
const results = (...content: UserMessage["content"]): Message => ({ role: "user", content });
const unknown = (callId: string): ResultBlock => ({
  type: "result",
  callId,
  content: [{ type: "text", text: outcomeUnknown }],
  isError: true,
});
const repair = (messages: Message[]) => repairMessages(messages, { model: "m" });

describe("repairMessages: calls and results", () => {
  it("leaves a sound conversation as it is", () => {
    const messages = [
      user("hi"),
      assistant(says("ok"), call("a")),
      results(result("a")),
      assistant(says("done")),
      user("more"),
    ];
    expect(repair(messages)).toEqual({ messages, repairs: [] });
  });

  it("answers a killed call with 'outcome unknown' at the first, middle and last position (H24, H30)", () => {
    for (const missing of ["a", "b", "c"]) {
      const given = ["a", "b", "c"].filter((id) => id !== missing);
      const { messages, repairs } = repair([
        user("hi"),
        assistant(call("a"), call("b"), call("c")),
        results(...given.map((id) => result(id))),
      ]);
      const wanted = ["a", "b", "c"].map((id) => (id === missing ? unknown(id) : result(id)));
      expect(messages[2]).toEqual(results(...wanted));
      expect(repairs).toEqual(["message 1: a call had no result; said so"]);
    }
  });

  it("answers a killed call at the very end, and one that a text followed (H30)", () => {
    expect(repair([user("hi"), assistant(call("a"))]).messages).toEqual([
      user("hi"),
      assistant(call("a")),
      results(unknown("a")),
    ]);
    expect(repair([user("hi"), assistant(call("a")), user("well?")]).messages.at(-1)).toEqual(
      results(unknown("a"), { type: "text", text: "well?" }),
    );
  });

  it("leaves out a result without a call and a result before its call (H30)", () => {
    const { messages, repairs } = repair([
      user("hi"),
      assistant(says("hm")),
      results(result("a"), { type: "text", text: "x" }),
      assistant(call("a")),
      results(result("a", "right"), result("zzz")),
    ]);
    expect(messages.slice(2)).toEqual([user("x"), assistant(call("a")), results(result("a", "right"))]);
    expect(repairs).toEqual([
      "message 2: left out a result that fits no call before it",
      "message 4: left out a result that fits no call before it",
    ]);
  });

  it("moves a stray later result to its call instead of calling it unknown (H24)", () => {
    const { messages } = repair([
      user("hi"),
      assistant(call("a")),
      user("and?"),
      assistant(says("wait")),
      results(result("a")),
    ]);
    expect(messages).toEqual([
      user("hi"),
      assistant(call("a")),
      results(result("a"), { type: "text", text: "and?" }),
      assistant(says("wait")),
      user("Continue."),
    ]);
  });

  it("puts five results in call order and the text meanwhile after them, in one message (H18, H35)", () => {
    const ids = ["1", "2", "3", "4", "5"];
    const { messages } = repair([
      user("go"),
      assistant(...ids.map((id) => call(id))),
      results(result("3"), result("1")),
      user("meanwhile"),
      results(result("5"), result("2"), result("4")),
    ]);
    expect(messages).toEqual([
      user("go"),
      assistant(...ids.map((id) => call(id))),
      results(...ids.map((id) => result(id)), { type: "text", text: "meanwhile" }),
    ]);
  });

  it("keeps a denial as the error result of its call, alone or one of three (H31)", () => {
    const denied: ResultBlock = { ...result("b", "denied by policy"), isError: true };
    const messages = [
      user("go"),
      assistant(call("a"), call("b"), call("c")),
      results(result("a"), denied, result("c")),
    ];
    expect(repair(messages)).toEqual({ messages, repairs: [] });
  });

  it("gives repeated call ids new names together with their results (H30)", () => {
    const { messages } = repair([
      user("hi"),
      assistant(call("a")),
      results(result("a", "one")),
      assistant(call("a")),
      results(result("a", "two")),
    ]);
    expect(messages.slice(3)).toEqual([assistant(call("a_2")), results(result("a_2", "two"))]);
    expect(messages[2]).toEqual(results(result("a", "one")));
  });

  it("leaves a result with the call it follows when an earlier call of the same id was killed (H24)", () => {
    const { messages } = repair([
      user("hi"),
      assistant(call("a")),
      user("again?"),
      assistant(call("a")),
      results(result("a", "of the second")),
    ]);
    expect(messages.slice(2)).toEqual([
      results(unknown("a"), { type: "text", text: "again?" }),
      assistant(call("a_2")),
      results(result("a_2", "of the second")),
    ]);
  });

  it("never gives a made-up id that another call holds", () => {
    const { messages } = repair([
      user("hi"),
      assistant(call("a"), call("a"), call("a_2")),
      results(result("a_2"), result("a")),
    ]);
    const ids = messages[1]?.content.map((block) => (block.type === "call" ? block.id : ""));
    expect(ids).toEqual(["a", "a_3", "a_2"]);
    expect(validateMessages(messages)).toEqual([]);
  });

  it("mends call ids that the API refuses, in call and result alike (H37)", () => {
    for (const id of ["", "a b", "x".repeat(65), "é\ud83d"]) {
      const { messages, repairs } = repair([user("hi"), assistant(call(id)), results(result(id, "kept"))]);
      expect(validateMessages(messages)).toEqual([]);
      expect(messages[2]?.content[0]).toMatchObject({ content: [{ text: "kept" }], isError: false });
      expect(repairs).toHaveLength(1);
    }
  });

  it("mends tool names a.b, empty and 200 characters, each always the same way (H37)", () => {
    const names = ["a.b", "", "n".repeat(200)];
    const { messages } = repair([
      user("hi"),
      assistant(...names.map((name, i) => call(`c${i}`, name)), call("d", "a.b")),
      results(...["c0", "c1", "c2", "d"].map((id) => result(id))),
    ]);
    const mended = messages[1]?.content.map((block) => (block.type === "call" ? block.name : ""));
    expect(mended).toEqual(["a_b", "unnamed_tool", "n".repeat(64), "a_b"]);
  });

  it("never mends a bad tool name into the name of a real tool (H37)", () => {
    const { messages } = repairMessages([user("hi"), assistant(call("a", "send.mail")), results(result("a"))], {
      model: "m",
      isToolKnown: (name) => name === "send_mail",
    });
    expect(messages[1]?.content[0]).toMatchObject({ name: "send_mail_invalid" });
  });
});

describe("repairMessages: turns and texts", () => {
  it("starts with the user when the history was cut before a reply (H33)", () => {
    const { messages } = repair([assistant(says("so")), user("go on")]);
    expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
  });

  it("drops results that a cut left without their calls (H32, H33)", () => {
    expect(repair([results(result("a")), assistant(says("so")), user("go on")]).messages).toEqual([
      user("(Earlier messages are not shown.)"),
      assistant(says("so")),
      user("go on"),
    ]);
  });

  it("joins neighbours of one role, and leaves out blank texts and empty messages", () => {
    expect(repair([user("a"), user(" \n"), assistant(), user("b")])).toEqual({
      messages: [user("a", "b")],
      repairs: [
        "message 1: left out a blank text",
        "message 1: empty, left out",
        "message 2: empty, left out",
        "message 3: joined with the user message before it",
      ],
    });
  });

  it("ends with the user, also for no messages at all", () => {
    expect(repair([]).messages).toEqual([user("Continue.")]);
    expect(repair([user("a"), assistant(says("b "))]).messages.at(-1)).toEqual(user("Continue."));
  });

  it("lets a paused reply go on unchanged but for white space at its end (H41)", () => {
    const server: AssistantContent = { type: "opaque", issuer: "m", data: { type: "server_tool_use", id: "s" } };
    const paused = [user("a"), assistant(server, says("so far"))];
    expect(repairMessages(paused, { model: "m", paused: true })).toEqual({ messages: paused, repairs: [] });
    const spaced = [user("a"), assistant(server, says("so far \n"))];
    expect(repairMessages(spaced, { model: "m", paused: true }).messages).toEqual(paused);
  });

  it("replaces halves of surrogate pairs in text, results and call inputs", () => {
    const { messages } = repair([
      user("a\ud83d"),
      assistant({ ...call("a"), input: { "k\udc00": ["v\ud800", { ok: "\u{1f600}" }] } }),
      results(result("a", "r\udc00")),
    ]);
    expect(messages).toEqual([
      user("a\ufffd"),
      assistant({ ...call("a"), input: { "k\ufffd": ["v\ufffd", { ok: "\u{1f600}" }] } }),
      results(result("a", "r\ufffd")),
    ]);
  });

  it("gives an empty error result a text and keeps pictures out of it", () => {
    const failed = (content: ResultBlock["content"]): ResultBlock => ({ ...result("a"), content, isError: true });
    const sent = (content: ResultBlock["content"]) =>
      repair([user("hi"), assistant(call("a")), results(failed(content))]).messages[2]?.content[0];
    expect(sent([])).toEqual(failed([{ type: "text", text: "failed without a message" }]));
    expect(sent([{ type: "image", mediaType: "image/png", data: "aGk=" }])).toEqual(
      failed([{ type: "text", text: "[picture left out]" }]),
    );
  });

  it("shortens a long result only when told to, keeping head and tail", () => {
    const long = `${"h".repeat(5000)}${"t".repeat(5000)}`;
    const messages = [user("hi"), assistant(call("a")), results(result("a", long))];
    expect(repair(messages).messages).toEqual(messages);
    const short = repairMessages(messages, { model: "m", maxResultChars: 500 });
    const block = short.messages[2]?.content[0] as ResultBlock;
    const text = block.content[0]?.type === "text" ? block.content[0].text : "";
    expect(text.length).toBeLessThanOrEqual(500);
    expect(text).toMatch(/^h+\n\[… 10000 characters in all; the middle is left out …\]\nt+$/);
    expect(repairMessages(short.messages, { model: "m", maxResultChars: 500 }).repairs).toEqual([]);
  });

  it("refuses a length that leaves nothing to read", () => {
    expect(() => repairMessages([], { model: "m", maxResultChars: 10 })).toThrow(/at least 200/);
  });
});

describe("repairMessages: thinking (H46)", () => {
  const thinks = (issuer: string, signature = "sig"): AssistantContent => ({
    type: "thinking",
    issuer,
    thinking: " t ",
    signature,
  });
  const redacted = (issuer: string): AssistantContent => ({
    type: "opaque",
    issuer,
    data: { type: "redacted_thinking", data: "x" },
  });

  it("sends it byte for byte inside the open tool loop to its issuer", () => {
    const messages = [user("hi"), assistant(thinks("m"), redacted("m"), call("a")), results(result("a"))];
    expect(repair(messages)).toEqual({ messages, repairs: [] });
  });

  it("keeps it when the user wrote meanwhile: the round is still open (H35)", () => {
    const messages = [
      user("hi"),
      assistant(thinks("m"), call("a")),
      results(result("a"), { type: "text", text: "hurry" }),
    ];
    expect(repair(messages)).toEqual({ messages, repairs: [] });
  });

  it("leaves it out after a change of model, without a signature, and once the loop is closed", () => {
    const loop = (...first: AssistantContent[]) => [user("hi"), assistant(...first, call("a")), results(result("a"))];
    expect(repair(loop(thinks("other"), redacted("other"))).messages).toEqual(loop());
    expect(repair(loop(thinks("m", ""))).messages).toEqual(loop());
    const closed = [...loop(thinks("m")), assistant(thinks("m"), says("done")), user("next")];
    expect(repair(closed).messages).toEqual([...loop(), assistant(says("done")), user("next")]);
  });

  it("leaves out a reply that was cut while thinking", () => {
    expect(repair([user("hi"), assistant(thinks("m"))]).messages).toEqual([user("hi")]);
  });
});

describe("validateMessages", () => {
  const sound = [user("hi"), assistant(call("a"), call("b")), results(result("a"), result("b"))];
  const cases: [string, Message[], string][] = [
    ["no message", [], "there is no message"],
    ["an assistant first", [assistant(says("x")), user("y")], "message 0: the first message must be from the user"],
    ["an assistant last", [user("x"), assistant(says("y"))], "message 1: the last message must be from the user"],
    ["two users in a row", [user("x"), user("y")], "message 1: two user messages in a row"],
    ["a blank text", [user(" ")], "message 0: a text block is blank"],
    ["a missing result", [...sound.slice(0, 2), results(result("a"))], 'message 2: call "b" has no result'],
    ["a stray result", [results(result("a"))], 'message 0: result "a" has no call in the message before'],
    [
      "results out of order",
      [...sound.slice(0, 2), results(result("b"), result("a"))],
      "message 2: results are not in call order",
    ],
    [
      "text before results",
      [...sound.slice(0, 2), results({ type: "text", text: "x" }, result("a"), result("b"))],
      "message 2: results must come first",
    ],
    [
      "a repeated id",
      [user("x"), assistant(call("a"), call("a")), results(result("a"))],
      'message 1: call id "a" is used twice',
    ],
    ["a bad id", [user("x"), assistant(call("é")), results(result("é"))], 'message 1: call id "é" is not valid'],
    [
      "a bad name",
      [user("x"), assistant(call("a", "a.b")), results(result("a"))],
      'message 1: tool name "a.b" is not valid',
    ],
    ["half a pair", [user("x\ud83d")], "message 0: a text holds half of a surrogate pair"],
  ];
  it("accepts a sound conversation", () => expect(validateMessages(sound)).toEqual([]));
  it.each(cases)("finds %s", (_, messages, fault) => expect(validateMessages(messages)).toEqual([fault]));
});
