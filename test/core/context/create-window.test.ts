import { describe, expect, it } from "vitest";
import { createWindow } from "../../../lib/core/context/create-window.ts";
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
});
