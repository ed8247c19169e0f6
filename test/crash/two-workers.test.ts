// Two processes that both believe the session is theirs. The log lets one win each version; the other stops
// before its next side effect.
import { describe, expect, it } from "vitest";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import type { Checkpoint } from "../../lib/core/checkpoint.ts";
import type { ModelAgent } from "../../lib/core/define-agent.ts";
import { sweepDue } from "../../lib/sessions/sweep.ts";
import { historyOf, playThrough } from "../../lib/testing/crash-points.ts";
import { type Embedded, embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable, type FaultPlan } from "../../lib/testing/faulty-table.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";
import { newWitness, relayAgent, relayScript } from "../support/relay-agent.ts";

function twoWorkers(agents: { first: ModelAgent; second: ModelAgent }, plans: { first: FaultPlan; second: FaultPlan }) {
  const clock = fakeClock();
  const base = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  const worker = (name: "first" | "second") => {
    const table = createFaultyTable(base, plans[name]);
    const ids = seededIds(name);
    return embed({ agents: [agents[name]], model: replayModel(relayScript), table, blobs, clock, ids });
  };
  return { clock, first: worker("first"), second: worker("second") };
}

const sweep = (worker: Embedded, slot: string) =>
  sweepDue(worker.deps, { before: Number.MAX_SAFE_INTEGER, cause: "stuck", slot });

/** Sweeps, with time passing, until the turn has ended. */
async function settle(worker: Embedded, clock: ReturnType<typeof fakeClock>, sessionId: string): Promise<Checkpoint[]> {
  for (let late = 0; late < 5; late++) {
    await worker.idle();
    const head = await worker.deps.store.log.head("acme", sessionId);
    if (head && !head.state.turn && head.state.turns === 1) break;
    await clock.advance(200_000);
    await sweep(worker, `late ${late}`);
  }
  return worker.deps.store.log.events("acme", sessionId, 0);
}

/** Owners of the turn after each version, and whether a step of another execution wrote while it was not the owner. */
function strangers(checkpoints: readonly Checkpoint[]): string[] {
  let owner = "";
  return checkpoints.flatMap(({ event, writer, version, state }) => {
    const execution = writer.split("/")[0] ?? "";
    const taking = event.type === "turn.started" || event.type === "session.resumed";
    const wrong = !taking && owner !== "" && execution !== owner ? [`${version} ${event.type} by ${execution}`] : [];
    owner = state.turn?.owner ?? "";
    return wrong;
  });
}

/** The first worker stalls at its n-th write until the second, which takes over meanwhile, has written m times. */
async function race(n: number, m: number) {
  const witness = newWitness();
  const agent = relayAgent(witness);
  const reached = Promise.withResolvers<void>();
  const { clock, first, second } = twoWorkers(
    { first: agent, second: agent },
    {
      first: [
        {
          fault: "delay",
          on: ({ write }) => write === n,
          get until() {
            return sweep(second, "takes over").then(() => Promise.race([reached.promise, second.idle()]));
          },
        },
      ],
      second: [
        {
          fault: "delay",
          on: ({ write }) => write === m,
          get until() {
            reached.resolve();
            return reached.promise;
          },
        },
      ],
    },
  );
  const { sessionId } = await first.send("go", { idempotencyKey: "m" });
  await first.idle();
  const checkpoints = await settle(second, clock, sessionId);
  return { checkpoints, witness };
}

describe("two workers on one session", () => {
  it("make one history without gaps and no effect twice; the loser writes nothing more (G4, H12, H15)", {
    timeout: 120_000,
  }, async () => {
    const undisturbed = await playThrough([], relayAgent(newWitness()), relayScript);
    let takenOver = 0;
    for (let n = 1; n <= undisturbed.writes; n++) {
      for (const m of [1, 3, 6, 12]) {
        const { checkpoints, witness } = await race(n, m);
        const at = { n, m };
        expect({ at, history: historyOf(checkpoints) }).toEqual({ at, history: undisturbed.history });
        expect({ at, versions: checkpoints.map(({ version }) => version) }).toEqual({
          at,
          versions: checkpoints.map((_, i) => i + 1),
        });
        expect({ at, filed: [...witness.filed.values()] }).toEqual({ at, filed: [1] });
        expect({ at, strangers: strangers(checkpoints) }).toEqual({ at, strangers: [] });
        if (checkpoints.some(({ event }) => event.type === "session.resumed")) takenOver++;
      }
    }
    expect(takenOver).toBeGreaterThan(40);
  });

  it("do not run the body of a call that is under way elsewhere, and take its result from the outside world (H20)", async () => {
    const witness = newWitness();
    const inside = Promise.withResolvers<void>();
    const wake = Promise.withResolvers<void>();
    const agent = relayAgent(witness);
    const slow: ModelAgent = {
      ...agent,
      tools: agent.tools.map((tool) => ({
        ...tool,
        run: async (input, ctx) => {
          if (tool.name === "file") {
            inside.resolve();
            await wake.promise;
          }
          return tool.run(input, ctx);
        },
      })),
    };
    const { clock, first, second } = twoWorkers({ first: slow, second: agent }, { first: [], second: [] });
    const { sessionId } = await first.send("go");
    await inside.promise;
    await sweep(second, "takes over");
    await second.idle();
    expect([...witness.filed.values()]).toEqual([]);
    wake.resolve();
    await first.idle();
    const checkpoints = await settle(second, clock, sessionId);
    expect([...witness.filed.values()]).toEqual([1]);
    expect(strangers(checkpoints)).toEqual([]);
    const outcome = checkpoints.flatMap(({ event }) =>
      event.type === "call.finished" && event.tool === "file" ? [event.outcome] : [],
    );
    expect(outcome).toEqual([{ status: "success", output: { receipt: "R-5" } }]);
  });
});
