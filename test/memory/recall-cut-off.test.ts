import { describe, expect, it } from "vitest";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { conceptEmbeddings } from "../support/concepts.ts";
import { ann, found, known, memoryWorld, whole } from "../support/memory-world.ts";

const factsIn = (text: string) => text.split("[data begins: long-term memory")[1]?.split("[data ends]")[0];

describe("a turn that chooses facts by meaning, cut off", () => {
  const agent = {
    memory: { enabled: true, similarity: "embeddings" as const },
    more: { model: { id: "m", maxTokens: 500, windowTokens: 4000 } },
    embeddings: conceptEmbeddings(),
  };

  /** One turn in a process whose n-th write meets the fault, then another process. */
  async function play(n: number, fault: "death before" | "death after" | "lost answer") {
    const clock = fakeClock();
    const base = createMemoryTable({ now: () => clock.now() });
    const table = createFaultyTable(base, n > 0 ? [{ fault, on: n }] : []);
    const [first, second] = [table, base].map((over) => memoryWorld({ ...agent, clock, table: over }));
    if (!first || !second) return expect.unreachable();
    const { facts } = second.app.deps.store;
    const texts = Array.from({ length: 12 }, (_, at) => `My item ${at} is in room ${at}00, on its shelf at the back.`);
    for (const [at, text] of ["My sister plays violoncello.", ...texts].entries())
      await facts.add(ann, { ...known, id: String(at).padStart(20, "0"), text, validFrom: at });
    for (const world of [first, second]) world.find(() => found());
    let sessionId = "";
    const message = { idempotencyKey: "a" };
    try {
      await first.app.send("Is there music in our family?", message);
      await first.app.idle();
    } catch {
      // It died while the message was taken in: the client sends it again.
    }
    await first.app.stop(0).catch(() => {});
    ({ sessionId } = await second.app.send("Is there music in our family?", message));
    await second.app.boot();
    await second.app.idle();
    const events = await second.app.deps.store.log.events("acme", sessionId, 0);
    const recalled = events.flatMap(({ event }) => (event.type === "memory.recalled" ? [event.shown] : []));
    // In every request, of either process; resumes are told elsewhere in it.
    const shown = new Set([...first.turns, ...second.turns].map((request) => factsIn(whole(request))));
    const kept = (await second.facts()).filter(({ vector }) => vector).length;
    return { recalled, shown: [...shown], kept, writes: table.writes };
  }

  it("at every write, is shown the same facts, chosen once in the log (G1, G3)", async () => {
    const undisturbed = await play(0, "death before");
    expect(undisturbed).toMatchObject({ recalled: [expect.arrayContaining(["0".repeat(20)])], kept: 13 });
    expect(undisturbed.shown).toEqual([expect.stringContaining("violoncello")]);
    expect(undisturbed.recalled[0]?.length).toBeLessThan(13);
    const expected = { ...undisturbed, writes: expect.any(Number), kept: expect.any(Number) };
    for (let n = 1; n <= undisturbed.writes; n++) {
      for (const fault of ["death before", "death after", "lost answer"] as const) {
        expect(await play(n, fault), `${fault} ${n}`).toEqual(expected);
      }
    }
  });
});
