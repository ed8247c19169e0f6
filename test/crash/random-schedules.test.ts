// Longer sessions with several crashes at random instants, parallel calls of all effects, several messages and
// hand-overs between executions.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReplyLine } from "../../lib/demo-model/script-line.ts";
import { type CrashPoint, playThrough } from "../../lib/testing/crash-points.ts";
import { newWitness, relayAgent } from "../support/relay-agent.ts";

const call = fc.record({ name: fc.constantFrom("fetch", "screen", "save", "assess", "file"), n: fc.nat(99) });
const round = fc.array(call, { minLength: 1, maxLength: 3 });
/** Turns of rounds; the n makes each call another one. */
const turns = fc.array(fc.array(round, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 });
const point: fc.Arbitrary<CrashPoint> = fc.oneof(
  fc.record({
    kind: fc.constant("write" as const),
    n: fc.integer({ min: 1, max: 40 }),
    fault: fc.constantFrom(
      "death before" as const,
      "death after" as const,
      "lost answer" as const,
      "lost request" as const,
    ),
  }),
  fc.record({
    kind: fc.constant("effect" as const),
    n: fc.integer({ min: 1, max: 10 }),
    fault: fc.constantFrom("death before" as const, "death after" as const),
  }),
);

describe("random crash schedules", () => {
  it("end as the undisturbed run does; every accepted message is in exactly one turn, in order (G1–G5, G7, H21)", {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        turns,
        fc.array(point, { maxLength: 3 }),
        fc.integer({ min: 1, max: 4 }),
        async (plan, schedule, roundsPerSegment) => {
          let serial = 0;
          const script = plan.flatMap((rounds): ReplyLine[] => [
            ...rounds.map((calls) => ({
              calls: calls.map(({ name, n }) => ({ name, input: { n: n + 100 * serial++ } })),
            })),
            { text: `answer ${serial}` },
          ]);
          const messages = plan.map((_, i) => `message ${i}`);
          const options = { messages, roundsPerSegment };
          const undisturbed = await playThrough([], relayAgent(newWitness()), script, options);
          const witness = newWitness();
          const played = await playThrough(schedule, relayAgent(witness), script, options);
          expect(sorted(played.history)).toEqual(sorted(undisturbed.history));
          expect(played.answers).toEqual(undisturbed.answers);
          expect([...witness.filed.values()].filter((times) => times !== 1)).toEqual([]);
          expect(played.checkpoints.map(({ version }) => version)).toEqual(played.checkpoints.map((_, i) => i + 1));
        },
      ),
      { numRuns: 150 },
    );
  });
});

/** Parallel calls of a round may finish in any order: their outcomes are compared in call order. */
function sorted(history: unknown[]): unknown[] {
  const rounds: unknown[] = [];
  let outcomes: { type: string; index: number }[] = [];
  for (const entry of history as { type: string; index: number }[]) {
    if (entry.type === "call.finished") outcomes.push(entry);
    else {
      rounds.push(...outcomes.sort((a, b) => a.index - b.index), entry);
      outcomes = [];
    }
  }
  return [...rounds, ...outcomes];
}
