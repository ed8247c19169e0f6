import { describe, expect, it } from "vitest";
import type { Message } from "../../../lib/core/content.ts";
import * as h from "./histories.ts";

import { readAndBuild } from "./read-and-build.ts";

const seen = (messages: readonly Message[]) => JSON.stringify(messages);

describe("messagesFrom", () => {
  it("maps a turn with parallel calls to alternating messages, results first in call order, texts after (H35)", () => {
    const events = h.log(
      h.created(),
      h.user(1, "Look", "and quickly"),
      h.reply(1, { text: "I look", calls: ["a", "b", "c", "d", "e"] }),
      h.finished(1, 2, "c", "3"),
      h.finished(1, 0, "a", "1"),
      h.steered("also this"),
      h.finished(1, 4, "e", "5"),
      h.finished(1, 1, "b", "2"),
      h.finished(1, 3, "d", "4"),
    );
    const { messages } = readAndBuild(events, { openTurnVersion: 2 });
    const result = (callId: string, text: string) => ({
      type: "result",
      callId,
      content: [{ type: "text", text }],
      isError: false,
    });
    const call = (id: string) => ({ type: "call", id, name: "look", input: { id } });
    expect(messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "text", text: "and quickly" },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "I look" }, ...["a", "b", "c", "d", "e"].map(call)] },
      {
        role: "user",
        content: [
          ...[
            ["a", "1"] as const,
            ["b", "2"] as const,
            ["c", "3"] as const,
            ["d", "4"] as const,
            ["e", "5"] as const,
          ].map(([id, text]) => result(id, text)),
          { type: "text", text: "also this" },
        ],
      },
    ]);
  });

  it("never sends what a cut stream had brought (H43)", () => {
    const error = { name: "ModelStreamCut", code: "model.stream_cut", message: "cut" };
    const failed = { type: "model.failed", round: 1, error, attempt: 1, retryAt: 5, partial: "half a sente" } as const;
    const { messages } = readAndBuild(h.log(h.created(), h.user(1, "hi"), failed), { openTurnVersion: 2 });
    expect(messages).toEqual([{ role: "user", content: [{ type: "text", text: "hi" }] }]);
  });

  it("answers calls of a reply that was cut with errors and asks to be shorter (H40)", () => {
    const events = h.log(h.created(), h.user(1, "hi"), h.reply(1, { text: "so", calls: ["a"], stop: "max_tokens" }));
    const { messages } = readAndBuild(events, { openTurnVersion: 2 });
    expect(h.faults(messages)).toEqual([]);
    expect(messages[2]).toMatchObject({
      role: "user",
      content: [
        {
          type: "result",
          callId: "a",
          isError: true,
          content: [{ text: "Not run: the reply was cut by the output limit." }],
        },
        { type: "text", text: expect.stringContaining("Be shorter") },
      ],
    });
  });

  it("sends a paused reply back unchanged, and its continuation as the same message (H41)", () => {
    const search = { type: "opaque", issuer: "model-a", data: { type: "server_tool_use" } } as const;
    const paused = h.reply(1, { stop: "pause_turn", content: [search] });
    const events = h.log(h.created(), h.user(1, "hi"), paused, { type: "notice", kind: "x", text: "meanwhile" });
    expect(readAndBuild(events, { openTurnVersion: 2 }).messages.slice(1)).toEqual([
      { role: "assistant", content: [search] },
    ]);
    const more = [...events, { version: 5, event: h.reply(2, { text: "found", calls: ["a"] }) }];
    const { messages } = readAndBuild([...more, { version: 6, event: h.finished(2, 0, "a") }], { openTurnVersion: 2 });
    expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
    expect(messages[1]?.content[0]).toEqual(search);
  });

  it("sends thinking only to the model that wrote it, signed, inside the open turn (H46)", () => {
    const thought = (issuer: string, signature: string) =>
      ({ type: "thinking", issuer, thinking: `${issuer} ${signature}`, signature }) as const;
    const content = [thought("model-a-20260101", "s"), thought("model-a", ""), thought("model-b", "s")];
    const call = { type: "call", id: "a", name: "look", input: {} } as const;
    const events = h.log(
      h.created(),
      h.user(1, "hi"),
      h.reply(1, { content: [thought("model-a", "old"), { type: "text", text: "one" }] }),
      h.ended(1),
      h.user(2, "again"),
      h.reply(1, { calls: ["a"], content: [...content, call] }),
      h.finished(1, 0, "a"),
    );
    const { messages } = readAndBuild(events, { openTurnVersion: 5 });
    expect(messages.flatMap((m) => m.content.flatMap((b) => (b.type === "thinking" ? [b.thinking] : [])))).toEqual([
      "model-a-20260101 s",
    ]);
  });

  it("leaves a note where a turn ended without an answer", () => {
    const events = h.log(h.created(), h.user(1, "hi"), h.ended(1, "I was stopped.", "stopped"), h.user(2, "go on"));
    expect(readAndBuild(events, { openTurnVersion: 4 }).messages).toEqual([
      { role: "user", content: [{ type: "text", text: "hi" }] },
      {
        role: "assistant",
        content: [{ type: "text", text: "[runtime: The turn ended: stopped. The user was told: I was stopped.]" }],
      },
      { role: "user", content: [{ type: "text", text: "go on" }] },
    ]);
  });

  it("says of a started call without result that its outcome is unknown (H24)", () => {
    const started = {
      type: "call.started",
      round: 1,
      index: 1,
      tool: "look",
      input: {},
      inputHash: "",
      idempotencyKey: "",
      effect: "once",
      attempt: 1,
      leaseUntil: 0,
    } as const;
    const events = h.log(
      h.created(),
      h.user(1, "hi"),
      h.reply(1, { calls: ["a", "b"] }),
      started,
      h.ended(1, "", "stopped"),
    );
    const text = seen(readAndBuild(events).messages);
    expect(text).toContain("Not run: the turn was ended.");
    expect(text).toContain(
      "Outcome unknown: the call was started and no result is stored. Verify before you repeat it.",
    );
  });
});
