import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { carryOver } from "../../../lib/core/compaction/carry-over.ts";
import { chooseCut } from "../../../lib/core/compaction/choose-cut.ts";
import type { SummaryRecord } from "../../../lib/core/compaction/summary-record.ts";
import { latestUserMessage, validateSummary } from "../../../lib/core/compaction/validate-summary.ts";
import type { ContextInput } from "../../../lib/core/context/build-context.ts";
import { buildContext } from "../../../lib/core/context/build-context.ts";
import type { LoggedEvent } from "../../../lib/core/context/logged-event.ts";
import { windowFor } from "../../../lib/core/context/window-for.ts";
import { emptyHandoff } from "../../../lib/core/handoff.ts";
import { handoffFromJournal } from "../../../lib/core/handoff-from-journal.ts";
import * as h from "../context/histories.ts";

const options = { keepTokens: 300, stubTokens: 200, summaryTokens: 50 };

describe("carryOver", () => {
  const record = {
    ...emptyHandoff,
    constraints: ["a", "b"],
    decisions: [{ what: "w", why: "y", atTurn: 1 }],
    resources: ["r1"],
  };
  const effect = { action: "mail", target: "bob", atTurn: 1, status: "done" as const };

  it("keeps constraints, decisions, side effects and resources word for word, once each", () => {
    const previous: SummaryRecord = {
      format: 1,
      narrative: "n",
      latestUser: "",
      turns: { from: 1, to: 1 },
      carried: { constraints: ["a", "lifted"], decisions: record.decisions, sideEffects: [effect], resources: ["r0"] },
    };
    const handoff = { ...record, sideEffects: [effect, effect, effect] };
    const journal = { sideEffects: [effect], resources: ["r1", "r2"] };
    expect(carryOver({ previous, handoff, journal })).toEqual({
      constraints: ["a", "b"],
      decisions: record.decisions,
      sideEffects: [effect, effect, effect],
      resources: ["r0", "r1", "r2"],
    });
  });
});

describe("an entry of a record", () => {
  it("is the same whatever order its keys have: what was read from the log has them sorted", () => {
    const fresh = { action: "mail", target: "bob", atTurn: 1, status: "done" as const };
    const read = { action: "mail", atTurn: 1, status: "done" as const, target: "bob" };
    const handoff = { ...emptyHandoff, sideEffects: [read], decisions: [{ atTurn: 1, what: "w", why: "y" }] };
    const carried = {
      constraints: [],
      decisions: [{ what: "w", why: "y", atTurn: 1 }],
      sideEffects: [],
      resources: [],
    };
    const previous = { format: 1 as const, narrative: "n", latestUser: "", turns: { from: 1, to: 1 }, carried };
    const kept = carryOver({ previous, handoff, journal: { sideEffects: [fresh], resources: [] } });
    expect([kept.sideEffects, kept.decisions]).toEqual([[fresh], carried.decisions]);
  });
});

describe("three compactions in a row", () => {
  it("keep every constraint and side effect word for word, all pairs, and a valid request (G13, H32, H55)", () => {
    const never = "Never mail customers without my OK";
    let whole = 0;
    fc.assert(
      fc.property(fc.array(h.histories, { minLength: 3, maxLength: 3 }), fc.nat(1500), (parts, keepTokens) => {
        let events: LoggedEvent[] = h.log(h.created());
        let version = 1;
        const add = (event: LoggedEvent["event"]) => events.push({ version: ++version, event });
        const record = { ...emptyHandoff, constraints: [never] };
        let previous: SummaryRecord | undefined;
        let turn = 0;
        let compactions = 0;
        for (const part of parts) {
          turn++;
          add(h.user(turn, "file it"));
          add(h.reply(1, { calls: [`file${turn}`], effect: "once" }));
          add(h.finished(1, 0, `file${turn}`, "filed", { effect: "once" }));
          add(h.handoff(record));
          add(h.ended(turn));
          for (const { event } of part.events.slice(1)) {
            // Turns of the random part go on counting from here.
            if (event.type === "handoff.updated") continue;
            if (event.type === "turn.started") turn++;
            add("turn" in event ? { ...event, turn } : event);
          }
          add(h.ended(turn, "", "stopped"));
          const cut = chooseCut(events, { ...options, keepTokens });
          if (cut.kind === "none") continue;
          const carried = carryOver({
            ...(previous ? { previous } : {}),
            handoff: record,
            journal: handoffFromJournal(cut.replaced),
          });
          const verdict = validateSummary(
            { content: [{ type: "text", text: `Goal: part ${turn}` }], stop: "end_turn" },
            {
              cut: { ...cut, replacedTokens: 1e9 },
              carried,
              constraints: record.constraints,
              latestUser: latestUserMessage(cut),
            },
          );
          if (!verdict.ok) throw new Error(verdict.message);
          previous = verdict.record;
          compactions++;
          const done = { type: "compaction.done", from: cut.from, to: cut.to, summary: previous, model: "m" } as const;
          const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
          add({ ...done, usage, usdMicros: 0, cause: "threshold" });
          events = events.slice(cut.replaced.length);
        }
        add(h.user(turn + 1, "send it"));
        const agent = h.testAgent({ context: "compaction" });
        const state: ContextInput["state"] = {
          context: { tokens: 0, version: 0 },
          turn: { startedVersion: version } as never,
        };
        const window = windowFor({ agent, state, tools: [], handoff: record });
        for (const { event, version: at } of events.toReversed()) if (window.add(event, at) === "enough") break;
        const { messages, problems } = buildContext({ agent, state, tools: [], ...window.result(), handoff: record });
        expect([h.faults(messages), problems]).toEqual([[], []]);
        expect(JSON.stringify(messages)).toContain(never);
        if (compactions === 3) {
          whole++;
          expect(previous?.carried.constraints).toEqual([never]);
          const filed = previous?.carried.sideEffects.filter((done) => done.target.includes("file")) ?? [];
          const inTail = events.flatMap(({ event }) =>
            event.type === "call.finished" && event.effect === "once" ? [event] : [],
          );
          expect(filed.length + inTail.length).toBe(3);
        }
      }),
      { numRuns: 60 },
    );
    expect(whole).toBeGreaterThan(5);
  });
});
