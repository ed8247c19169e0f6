// Random conversations for the property tests: wild ones, as bad as a log can get, and sound ones.
import fc from "fast-check";
import type { AssistantContent, CallBlock, Message, ResultBlock, TextBlock } from "../../lib/core/content.ts";
import type { JsonObject } from "../../lib/core/json.ts";

const anyText = fc.oneof(
  fc.string(),
  fc.constantFrom("", " ", "\n\t", "\u0000", "\u001c\u0085", "half \ud83d", "tail \udc00", "good \u{1f600}", "ends "),
);
const callId = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("a", "b", "c", "a_2") },
  { weight: 2, arbitrary: fc.constantFrom("", "no spaces", "x".repeat(80), "é", "half \ud83d") },
);
const toolName = fc.constantFrom("search", "a.b", "", "n".repeat(200), "send_mail", "half \ud83d");
const input: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
  {},
  { a: 1 },
  { text: "half \ud83d" },
  { "key \udc00": [{ deep: "\ud800" }] },
  { backslash: "\\ud83d" },
);
const text: fc.Arbitrary<TextBlock> = anyText.map((value) => ({ type: "text", text: value }));
const image = fc.constantFrom<Message>(
  { role: "user", content: [{ type: "image", mediaType: "image/png", data: "aGk=" }] },
  { role: "user", content: [{ type: "image", mediaType: "image/png", data: "" }] },
);
const imageBlock = image.map((message) => message.content[0]);
const call = fc.record({ id: callId, name: toolName, input }).map((parts): CallBlock => ({ type: "call", ...parts }));
const result = fc
  .record({ callId, content: fc.array(fc.oneof(text, imageBlock), { maxLength: 2 }), isError: fc.boolean() })
  .map((parts) => ({ type: "result", ...parts }) as ResultBlock);
const signed: fc.Arbitrary<AssistantContent> = fc
  .record({ issuer: fc.constantFrom("m", "other"), thinking: anyText, signature: fc.constantFrom("sig", "") })
  .chain((parts) =>
    fc.constantFrom<AssistantContent>(
      { type: "thinking", ...parts },
      { type: "opaque", issuer: parts.issuer, data: { type: "redacted_thinking", data: "xyz" } },
    ),
  );
/** Blocks of any kind in any role, and some that are no block at all. */
const block = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 6, arbitrary: call },
  { weight: 6, arbitrary: result },
  { weight: 2, arbitrary: signed },
  { weight: 1, arbitrary: imageBlock },
  { weight: 1, arbitrary: fc.constantFrom(null, 7, {}, { type: "brand_new" }, { type: "text" }, { type: "call" }) },
);

/** Anything that could ever stand in a log, far beyond what the types allow. */
export const wildHistory = fc
  .array(
    fc.oneof(
      {
        weight: 20,
        arbitrary: fc.record({
          role: fc.constantFrom("user", "assistant"),
          content: fc.array(block, { maxLength: 5 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom(null, {}, { role: "system", content: [] }, { role: "user", content: "x" }),
      },
    ),
    { maxLength: 12 },
  )
  .map((messages) => messages as unknown as Message[]);

const goodText = fc.constantFrom("hello", "go on", "\u{1f600} fine", "  indented");
const round = fc.record({
  lead: fc.option(goodText, { nil: undefined }),
  thinking: fc.boolean(),
  calls: fc.integer({ min: 1, max: 4 }),
  meanwhile: fc.option(goodText, { nil: undefined }),
});
const turn = fc.record({ ask: goodText, rounds: fc.array(round, { maxLength: 4 }), answer: goodText });

/** Sound conversations of model "m" that end in an open turn; thinking only in the last turn. */
export const soundHistory = fc.array(turn, { minLength: 1, maxLength: 4 }).map((turns) => {
  const messages: Message[] = [];
  let calls = 0;
  turns.forEach((one, index) => {
    const open = index === turns.length - 1;
    messages.push({ role: "user", content: [{ type: "text", text: one.ask }] });
    for (const part of one.rounds) {
      const ids = Array.from({ length: part.calls }, () => `call_${calls++}`);
      messages.push({
        role: "assistant",
        content: [
          ...(part.thinking && open
            ? [{ type: "thinking" as const, issuer: "m", thinking: "hm", signature: "sig" }]
            : []),
          ...(part.lead ? [{ type: "text" as const, text: part.lead }] : []),
          ...ids.map((id): CallBlock => ({ type: "call", id, name: "search", input: { q: id } })),
        ],
      });
      messages.push({
        role: "user",
        content: [
          ...ids.map((id): ResultBlock => ({ type: "result", callId: id, content: [], isError: false })),
          ...(part.meanwhile ? [{ type: "text" as const, text: part.meanwhile }] : []),
        ],
      });
    }
    if (!open) messages.push({ role: "assistant", content: [{ type: "text", text: one.answer }] });
  });
  return messages;
});
