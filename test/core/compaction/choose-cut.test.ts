import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cut, chooseCut } from "../../../lib/core/compaction/choose-cut.ts";
import type { LoggedEvent } from "../../../lib/core/context/logged-event.ts";
import * as h from "../context/histories.ts";

const options = { keepTokens: 300, stubTokens: 200, summaryTokens: 50 };

function cutOf(events: LoggedEvent[], change: Partial<typeof options> = {}): Cut {
  const cut = chooseCut(events, { ...options, ...change });
  if (cut.kind === "none") throw new Error(`no cut: ${cut.why}`);
  return cut;
}

/** Calls and results of a part of the log that have no counterpart in it. */
function torn(part: readonly LoggedEvent[]): string[] {
  const open = new Set<string>();
  const found: string[] = [];
  for (const { event } of part) {
    if (event.type === "model.replied") for (const call of event.calls) open.add(call.id);
    if (event.type === "turn.finished" || event.type === "turn.failed") open.clear();
    if (event.type === "call.finished" && !open.delete(event.callId)) found.push(`result ${event.callId}`);
  }
  return [...found, ...[...open].map((id) => `call ${id}`)];
}

describe("chooseCut", () => {
  it("keeps calls with their results on both sides at every cut of random histories (H32)", () => {
    fc.assert(
      fc.property(h.histories, fc.nat(3000), ({ events }, keepTokens) => {
        const cut = chooseCut(events, { ...options, keepTokens });
        if (cut.kind === "none") return;
        expect([torn(cut.replaced), torn(cut.kept)]).toEqual([[], []]);
        expect([...cut.replaced, ...cut.kept]).toEqual(events);
        expect(cut.to).toBe(cut.replaced.at(-1)?.version);
        const next = cut.kept[0]?.event.type;
        expect(next === "call.finished" || next === "turn.finished" || next === "turn.failed").toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it("always shrinks, or says why not (H33)", () => {
    fc.assert(
      fc.property(h.histories, fc.nat(3000), ({ events }, keepTokens) => {
        const cut = chooseCut(events, { ...options, keepTokens });
        if (cut.kind === "cut") {
          expect(cut.replacedTokens).toBeGreaterThan(options.summaryTokens);
          expect(cut.kept.length).toBeLessThan(events.length);
        } else expect(["no_boundary", "too_little"]).toContain(cut.why);
      }),
      { numRuns: 200 },
    );
  });

  it("refuses while a call is open (H32)", () => {
    const events = h.log(h.created(), h.user(1, "hi"), h.reply(1, { calls: ["a", "b"] }), h.finished(1, 1, "b"));
    expect(chooseCut(events, options)).toEqual({ kind: "none", why: "call_open" });
  });

  it("does not part a paused reply from its continuation", () => {
    const events = h.log(
      h.created(),
      h.user(1, "word ".repeat(300)),
      h.reply(1, { calls: ["a"] }),
      h.finished(1, 0, "a"),
      h.reply(2, { text: "searching", stop: "pause_turn" }),
      h.reply(3, { calls: ["b"] }),
      h.finished(3, 0, "b"),
    );
    const cuts = Array.from({ length: 200 }, (_, keepTokens) => chooseCut(events, { ...options, keepTokens }));
    const ends = new Set(cuts.flatMap((cut) => (cut.kind === "cut" ? [cut.to] : [])));
    expect(ends).toEqual(new Set([7, 4]));
  });

  it("replaces what a fork inherited whole", () => {
    const parent = h.log(h.created(), h.user(1, "word ".repeat(300)), h.reply(1, { text: "yes" }), h.ended(1));
    const own = h.log(h.created({ fork: true }), h.user(1, "word ".repeat(50)), h.reply(1, { text: "no" }), h.ended(1));
    const cut = cutOf([...parent, ...own], { keepTokens: 10_000 });
    expect([cut.from, cut.to, cut.kept.map((logged) => logged.version)]).toEqual([1, 1, [2, 3, 4]]);
  });

  it("cuts later when huge results would all fit in the tail as stubs, so that the summary is worth it (H49)", () => {
    const huge = "word ".repeat(3000);
    const calls = ["a", "b", "c"];
    const events = h.log(
      h.created(),
      h.user(1, "go"),
      h.reply(1, { calls }),
      ...calls.map((id, i) => h.finished(1, i, id, huge)),
    );
    const cut = chooseCut(events, { keepTokens: 1000, stubTokens: 200, summaryTokens: 500 });
    expect(cut).toMatchObject({ kind: "cut", from: 1, to: 6, kept: [] });
  });
});
