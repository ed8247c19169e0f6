// Properties of the repair over random histories: it always ends valid, once is enough, and it tears nothing.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message } from "../../lib/core/content.ts";
import { type RepairOptions, repairMessages, validateMessages } from "../../lib/core/repair.ts";
import { soundHistory, wildHistory } from "./repair-histories.ts";

const options: fc.Arbitrary<RepairOptions> = fc.record({
  model: fc.constant("m"),
  paused: fc.boolean(),
  isToolKnown: fc.constantFrom(
    undefined,
    () => true,
    (name: string) => name === "a_b",
  ),
  maxResultChars: fc.constantFrom(undefined, 200),
});

/** Serialised `input` of each call (one without an id counts as ""), with the texts of its result in the next message, where both ids occur once. */
function soundPairs(messages: readonly Message[]): [string, string][] {
  const calls = messages.flatMap((m, at) => {
    return m?.role === "assistant"
      ? m.content.flatMap((b) => (b?.type === "call" ? [{ id: b.id ?? "", at, b }] : []))
      : [];
  });
  const results = messages.flatMap((m, at) => {
    return m?.role === "user" && Array.isArray(m.content)
      ? m.content.flatMap((b) => (b?.type === "result" ? [{ id: b.callId, at, b }] : []))
      : [];
  });
  return calls.flatMap(({ id, at, b }): [string, string][] => {
    const mine = results.filter((one) => one.id === id);
    const once = mine.length === 1 && calls.filter((one) => one.id === id).length === 1;
    return once && mine[0]?.at === at + 1 ? [[JSON.stringify(b.input), JSON.stringify(mine[0].b.content)]] : [];
  });
}

/** Marks every call and result of a wild history, so that each can be found again after the repair. */
function marked(messages: Message[]): Message[] {
  let n = 0;
  return messages.map((m) => {
    if (!Array.isArray(m?.content)) return m;
    const content = m.content.map((b) => {
      n++;
      if (b?.type === "call") return { ...b, input: { n } };
      return b?.type === "result" ? { ...b, content: [{ type: "text", text: `result ${n}` }] } : b;
    });
    return { ...m, content } as Message;
  });
}

describe("repairMessages over random histories (G12)", () => {
  it("always ends in a conversation that the validator accepts (H30, H33, H35, H37, H46)", () => {
    fc.assert(
      fc.property(wildHistory, options, (messages, given) => {
        const { messages: sent } = repairMessages(messages, given);
        expect(validateMessages(sent, given)).toEqual([]);
      }),
      { numRuns: 3000 },
    );
  });

  it("changes nothing and says nothing the second time (H30)", () => {
    fc.assert(
      fc.property(wildHistory, options, (messages, given) => {
        const once = repairMessages(messages, given);
        expect(repairMessages(once.messages, given)).toEqual({ messages: once.messages, repairs: [] });
      }),
      { numRuns: 3000 },
    );
  });

  it("never loses or tears a sound pair (H24, H32)", () => {
    fc.assert(
      fc.property(wildHistory.map(marked), options, (messages, given) => {
        const before = soundPairs(messages);
        const after = soundPairs(repairMessages(messages, given).messages);
        for (const pair of before) expect(after).toContainEqual(pair);
      }),
      { numRuns: 3000 },
    );
  });

  it("leaves sound histories alone, and never changes what it is given", () => {
    fc.assert(
      fc.property(soundHistory, (messages) => {
        const copy = structuredClone(messages);
        expect(validateMessages(messages, { model: "m" })).toEqual([]);
        expect(repairMessages(messages, { model: "m" })).toEqual({ messages, repairs: [] });
        expect(messages).toEqual(copy);
      }),
    );
  });

  it("mends a sound history cut at any index or robbed of any message (H30, H32, H33)", () => {
    fc.assert(
      fc.property(soundHistory, fc.nat(), (messages, n) => {
        const at = n % messages.length;
        for (const cut of [messages.slice(at), messages.slice(0, at), messages.toSpliced(at, 1)]) {
          const { messages: sent, repairs } = repairMessages(cut, { model: "m" });
          expect(validateMessages(sent, { model: "m" })).toEqual([]);
          expect(repairs.length > 0).toBe(validateMessages(cut).length > 0);
        }
      }),
    );
  });
});
