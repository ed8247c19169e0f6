import { describe, expect, it } from "vitest";
import { createWindow, newestRounds, shownTokens } from "../../../lib/core/context/create-window.ts";
import * as h from "./histories.ts";

describe("createWindow", () => {
  it("stops at the cut of the newest compaction", () => {
    const events = h.log(
      h.created(),
      h.user(1, "old"),
      h.reply(1, { text: "older" }),
      h.ended(1),
      h.user(2, "kept"),
      h.compacted(4, "was said"),
      h.reply(1, { calls: ["a"] }),
      h.finished(1, 0, "a"),
    );
    for (const strategy of ["auto", "full-replay", "sliding-window", "compaction"] as const) {
      const window = createWindow({ strategy, budgetTokens: 50_000, openTurnVersion: 5 });
      const answers = events.toReversed().map(({ event, version }) => window.add(event, version));
      expect(answers).toEqual(["more", "more", "more", "enough", "enough", "enough", "enough", "enough"]);
      const { events: kept, summary } = window.result();
      expect([kept[0]?.version, summary?.version]).toEqual([5, 6]);
    }
  });

  it("reads no further than the open turn for checkpoint", () => {
    const events = h.log(h.created(), h.user(1, "a"), h.ended(1), h.user(2, "b"), h.reply(1, { calls: ["a"] }));
    const window = createWindow({ strategy: "checkpoint", budgetTokens: 50_000, openTurnVersion: 4 });
    const answers = events.toReversed().map(({ event, version }) => window.add(event, version));
    expect(answers).toEqual(["more", "enough", "enough", "enough", "enough"]);
    expect(window.result().events.map((logged) => logged.version)).toEqual([4, 5]);
  });

  it("never drops anything for full-replay, and says when it does not fit", () => {
    const events = h.log(h.created(), h.user(1, "word ".repeat(2000)), h.reply(1, { text: "word ".repeat(2000) }));
    const window = createWindow({ strategy: "full-replay", budgetTokens: 1000, openTurnVersion: 2 });
    for (const { event, version } of events.toReversed()) window.add(event, version);
    expect(window.result()).toMatchObject({ over: true, strategy: "full-replay" });
  });

  it("keeps its start for some rounds, so that the prefix is sent from the cache", () => {
    const rounds = (count: number) =>
      h.log(
        h.created(),
        h.user(1, "go"),
        ...Array.from({ length: count }, (_, i) => [
          h.reply(i + 1, { calls: [`c${i}`] }),
          h.finished(i + 1, 0, `c${i}`, "word ".repeat(700)),
        ]).flat(),
      );
    const starts = Array.from({ length: 12 }, (_, i) => {
      const window = createWindow({ strategy: "sliding-window", budgetTokens: 100_000, openTurnVersion: 2 });
      for (const { event, version } of rounds(20 + i).toReversed()) if (window.add(event, version) === "enough") break;
      return window.result().events[0]?.version;
    });
    expect(new Set(starts).size).toBeLessThanOrEqual(4);
  });

  it("moves its start a few times only in a long session of short turns, and keeps half of the budget at least", () => {
    const events = h.log(
      h.created(),
      ...Array.from({ length: 200 }, (_, i) => [
        h.user(i + 1, "word ".repeat(50)),
        h.reply(1, { text: "word ".repeat(100) }),
        h.ended(i + 1),
      ]).flat(),
    );
    const ends = events.flatMap(({ event }, i) => (event.type === "turn.started" ? [i + 1] : []));
    const starts = ends.map((end) => newestRounds(events.slice(0, end), 4000));
    const size = (some: typeof events) => some.reduce((sum, { event }) => sum + shownTokens(event, 1e9), 0);
    const moves = starts.filter((kept, i) => i > 0 && kept[0] !== starts[i - 1]?.[0]);
    expect(moves.length).toBeGreaterThan(5);
    expect(moves.length).toBeLessThan(40);
    for (const kept of starts.slice(60)) {
      expect(size(kept)).toBeLessThanOrEqual(4000);
      expect(size(kept)).toBeGreaterThanOrEqual(2000);
    }
  });
});
