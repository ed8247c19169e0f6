import { describe, expect, it } from "vitest";
import type { BeforeCall, CallToCheck } from "../../lib/core/before-call.ts";
import { defineAgent } from "../../lib/core/define-agent.ts";
import { embed } from "../../lib/testing/embed.ts";
import { longAgent, longModel, textOfRequest } from "../support/long-session.ts";
import { eventsOf, play, readRun } from "../support/run-long.ts";

/** Looks at an item, then files it. */
const script = (n: number) =>
  n === 1 ? [{ name: "look", input: { n } }] : n === 2 ? [{ name: "file", input: { n } }] : null;

describe("beforeCall", () => {
  it("sees the frozen call with the origins of what stood in the context", async () => {
    const seen: CallToCheck[] = [];
    const beforeCall: BeforeCall = (call) => {
      seen.push(call);
      return null;
    };
    await play(embed({ agents: [longAgent({ beforeCall })], model: longModel({ calls: script }) }), "go 1");
    expect(seen[0]).toEqual({
      tool: "look",
      input: { n: 1 },
      effect: "read",
      approval: null,
      origins: [{ kind: "system" }, { kind: "user", version: 2 }],
    });
    const file = seen.filter(({ tool }) => tool === "file");
    expect(file[0]?.origins).toEqual([
      { kind: "system" },
      { kind: "user", version: 2 },
      { kind: "tool", name: "look", version: 4 },
    ]);
    // Once when it is planned and once before it runs, about the same.
    expect(file).toEqual([file[0], file[0]]);
    expect(() => Object.assign(file[0]?.input as object, { n: 9 })).toThrow(TypeError);
  });

  it("puts a call to people that came of a tool's text, and it does not run before they decide", async () => {
    const filed: number[] = [];
    const beforeCall: BeforeCall = ({ effect, origins }) =>
      effect === "once" && origins.some(({ kind }) => kind === "tool")
        ? { approval: { approvers: ["boss@bank.example"] } }
        : null;
    const agent = longAgent({ beforeCall, filed: (n) => void filed.push(n) });
    const embedded = embed({ agents: [agent], model: longModel({ calls: script }) });
    const { sessionId } = await embedded.send("go 1");
    let run = await readRun(embedded, sessionId);
    while (eventsOf(run, "approval.requested").length === 0) {
      await new Promise(setImmediate);
      run = await readRun(embedded, sessionId);
    }
    expect(eventsOf(run, "approval.requested")[0]).toMatchObject({ tool: "file", approvers: ["boss@bank.example"] });
    expect(eventsOf(run, "model.replied").map(({ calls }) => calls[0]?.gated)).toEqual([false, true]);
    expect(filed).toEqual([]);
    await embedded.stop(0);
  });

  it("refuses with a reason that the model reads, and a policy that fails refuses too", async () => {
    for (const [beforeCall, reason] of [
      [
        (call: CallToCheck) => (call.tool === "file" ? { refuse: "not on Sundays" } : null),
        "not allowed: not on Sundays",
      ],
      [
        (call: CallToCheck) => {
          if (call.tool === "file") throw new Error("broken");
          return null;
        },
        "the approval policy of this tool failed (broken)",
      ],
    ] as const) {
      const filed: number[] = [];
      const model = longModel({ calls: script });
      const agent = longAgent({ beforeCall, filed: (n) => void filed.push(n) });
      const run = await play(embed({ agents: [agent], model }), "go 1");
      expect(eventsOf(run, "model.replied")[1]?.calls[0]?.refused).toBe(reason);
      expect(textOfRequest(model.requests.at(-1) ?? { messages: [] })).toContain(reason);
      expect(filed).toEqual([]);
    }
  });

  it("is not asked about built-in tools, and must be a function", async () => {
    const asked: string[] = [];
    const beforeCall: BeforeCall = ({ tool }) => {
      asked.push(tool);
      return { refuse: "no" };
    };
    const calls = (n: number) => (n === 1 ? [{ name: "update_progress", input: { goal: "g" } }] : null);
    const run = await play(embed({ agents: [longAgent({ beforeCall })], model: longModel({ calls }) }), "go 1");
    expect([asked, eventsOf(run, "handoff.updated").length]).toEqual([[], 1]);
    const define = () => defineAgent({ name: "a", instructions: "i", model: { id: "m" }, beforeCall: true as never });
    expect(define).toThrow('agent "a".beforeCall: must be a function');
  });
});
