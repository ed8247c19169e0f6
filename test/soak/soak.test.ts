// The soak test, bounded: as many episodes as fit, each with a seed of its own. `npm run soak -- --minutes 10` runs it
// longer, `npm run soak -- --seed N` plays one episode again.
import { describe, expect, it } from "vitest";
import { runEpisode, sessionCount, variantCount } from "./run-episode.ts";

/** No further episode is begun after this; at least one of each variant is played. */
const budgetMs = 30_000;

describe(`${sessionCount} sessions over workers that die, lost answers, repeated messages and clock steps`, () => {
  it("end with each message in one finished turn, in order, versions without gaps, each effect once, nothing due (G1, G2, G4, G5, G7, H12, H14, H15, H16, H21, H26, H63, H64)", {
    timeout: 180_000,
  }, async () => {
    const first = Date.now() % 1_000_000;
    const end = Date.now() + budgetMs;
    for (let seed = first; seed < first + variantCount || Date.now() < end; seed++) {
      const { wrong, ...counts } = await runEpisode(seed);
      console.log(`soak ${JSON.stringify(counts)}`);
      expect({ seed, wrong }).toEqual({ seed, wrong: [] });
      // A soak in which nothing happens proves nothing.
      expect(counts).toMatchObject({
        deaths: expect.toSatisfy((deaths: number) => deaths > 0),
        resumed: expect.toSatisfy((resumed: number) => resumed > 0),
        duplicates: expect.toSatisfy((duplicates: number) => duplicates > 0),
      });
    }
  });
});
