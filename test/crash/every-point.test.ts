// Every instant at which the process can die in a session of five steps, for the model loop and for the flow.
import { describe, expect, it } from "vitest";
import type { Agent } from "../../lib/core/define-flow.ts";
import type { ReplyLine } from "../../lib/demo-model/script-line.ts";
import { type CrashPoint, crashAt, crashPoints } from "../../lib/testing/crash-points.ts";
import {
  newWitness,
  relayAgent,
  relayFlow,
  relayFlowScript,
  relayScript,
  type Witness,
} from "../support/relay-agent.ts";

const cases: { name: string; make: (witness: Witness) => Agent; script: ReplyLine[]; effects: number }[] = [
  { name: "the model loop", make: relayAgent, script: relayScript, effects: 5 },
  { name: "the flow", make: relayFlow, script: relayFlowScript, effects: 3 },
];

for (const { name, make, script, effects } of cases) {
  describe(`every crash point of ${name}`, () => {
    it("comes to the state of the undisturbed run, with no effect twice (G1, G2, G3, G4, G5, G7)", {
      timeout: 120_000,
    }, async () => {
      const { undisturbed, points } = await crashPoints(make(newWitness()), script);
      expect(Object.values(undisturbed.effects)).toEqual(Array(effects).fill(1));
      expect(points.length).toBeGreaterThan(60);
      for (const point of points) await check(point, undisturbed);
    });
  });

  async function check(point: CrashPoint, undisturbed: Awaited<ReturnType<typeof crashAt>>): Promise<void> {
    const witness = newWitness();
    const played = await crashAt(point, make(witness), script);
    const at = JSON.stringify(point);
    expect({ at, history: played.history }).toEqual({ at, history: undisturbed.history });
    expect({ at, filed: [...witness.filed.values()] }).toEqual({ at, filed: [1] });
    expect({ at, versions: played.checkpoints.map(({ version }) => version) }).toEqual({
      at,
      versions: played.checkpoints.map((_, i) => i + 1),
    });
    expect({ at, keys: Object.keys(played.effects).length }).toEqual({ at, keys: effects });
  }
}
