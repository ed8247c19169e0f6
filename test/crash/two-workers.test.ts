// Two processes that both believe the session is theirs. The log lets one win each version; the other stops
// before its next side effect.
import { describe, expect, it } from "vitest";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { sweepDue } from "../../lib/sessions/sweep.ts";
import { historyOf, playThrough } from "../../lib/testing/crash-points.ts";
import { embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";
import { newWitness, relayAgent, relayScript } from "../support/relay-agent.ts";

/** The second worker takes over while the first one's n-th write is under way; both go on. */
async function race(n: number) {
  const clock = fakeClock();
  const base = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  const witness = newWitness();
  const agent = relayAgent(witness);
  const second = embed({
    agents: [agent],
    model: replayModel(relayScript),
    table: base,
    blobs,
    clock,
    ids: seededIds("second"),
  });
  let taken: Promise<unknown> | undefined;
  const table = createFaultyTable(base, [
    {
      fault: "delay",
      on: ({ write }) => write === n,
      get until() {
        taken = sweepDue(second.deps, { before: Number.MAX_SAFE_INTEGER, cause: "stuck", slot: "second" });
        return taken;
      },
    },
  ]);
  const first = embed({
    agents: [agent],
    model: replayModel(relayScript),
    table,
    blobs,
    clock,
    ids: seededIds("first"),
  });
  const { sessionId } = await first.send("go", { idempotencyKey: "m" });
  await first.idle();
  await taken;
  await second.idle();
  // A lease of a call that the loser had begun runs out; then the sweeper goes on.
  for (let sweep = 0; sweep < 5; sweep++) {
    const head = await second.deps.store.log.head("acme", sessionId);
    if (head && !head.state.turn && head.state.turns === 1) break;
    await clock.advance(200_000);
    await sweepDue(second.deps, { before: Number.MAX_SAFE_INTEGER, cause: "stuck", slot: `late ${sweep}` });
    await second.idle();
  }
  const checkpoints = await second.deps.store.log.events("acme", sessionId, 0);
  return { checkpoints, witness, writes: table.writes };
}

describe("two workers on one session", () => {
  it("make one history without gaps, and no effect twice, wherever the second takes over (G4, H12, H15)", {
    timeout: 60_000,
  }, async () => {
    const undisturbed = await playThrough([], relayAgent(newWitness()), relayScript);
    for (let n = 1; n <= undisturbed.writes; n++) {
      const { checkpoints, witness } = await race(n);
      expect({ n, history: historyOf(checkpoints) }).toEqual({ n, history: undisturbed.history });
      expect({ n, versions: checkpoints.map(({ version }) => version) }).toEqual({
        n,
        versions: checkpoints.map((_, i) => i + 1),
      });
      expect({ n, filed: [...witness.filed.values()] }).toEqual({ n, filed: [1] });
    }
  });
});
