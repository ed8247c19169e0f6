// Every instant at which a process can die around compactions and handoff records: nothing is lost, nothing happens
// twice, and the session ends as it would have (G1–G4, G13, H50).
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import type { SummaryRecord } from "../../lib/core/compaction/summary-record.ts";
import { handoffFromJournal } from "../../lib/core/handoff-from-journal.ts";
import { validateMessages } from "../../lib/core/repair.ts";
import type { ModelRequest } from "../../lib/ports/model.ts";
import { crashAt, crashPoints, type Played } from "../../lib/testing/crash-points.ts";
import { longAgent, longModel, textOfRequest } from "../support/long-session.ts";

const never = "Never mail customers without my OK";

/** Rounds of long results, with a rule of the user, a decision and three filings among them. */
function calls(n: number): { name: string; input: Record<string, unknown> }[] | null {
  if (n === 2)
    return [{ name: "update_progress", input: { constraints: [never], decisions: [{ what: "go on", why: "ok" }] } }];
  if (n === 3 || n === 6 || n === 9) return [{ name: "file", input: { n } }];
  return n <= 14 ? [{ name: "look", input: { n } }] : null;
}

describe("every crash point of a session with compactions", () => {
  it("keeps effects, records and the answer", { timeout: 240_000 }, async () => {
    const seen: ModelRequest[] = [];
    const options = {
      messages: ["go 1"],
      model: () => {
        const model = longModel({ calls });
        return {
          ...model,
          reply: async (...args: Parameters<typeof model.reply>) => {
            if (args[0].tools.length > 0) seen.push(args[0]);
            return model.reply(...args);
          },
        };
      },
    };
    const small = { resultLines: 44 };
    const { undisturbed, points } = await crashPoints(longAgent(small), [], options);
    const done = undisturbed.checkpoints.filter(({ event }) => event.type === "compaction.done");
    expect(done.length).toBeGreaterThanOrEqual(2);
    expect(points.length).toBeGreaterThan(120);
    for (const point of points) {
      const filed: number[] = [];
      const played = await crashAt(point, longAgent({ ...small, filed: (n) => void filed.push(n) }), [], options);
      const at = JSON.stringify(point);
      expect({ at, ...outcome(played) }).toEqual({ at, ...outcome(undisturbed) });
      expect({ at, filed }).toEqual({ at, filed: [3, 6, 9] });
      expect({ at, lost: lost(played) }).toEqual({ at, lost: [] });
      expect({ at, versions: played.checkpoints.map(({ version }) => version) }).toEqual({
        at,
        versions: played.checkpoints.map((_, i) => i + 1),
      });
    }
    expect(seen.flatMap((request) => validateMessages(request.messages))).toEqual([]);
    const late = seen.filter((request) => textOfRequest(request).includes("is replaced by a summary"));
    expect(late.length).toBeGreaterThan(points.length);
    expect(late.filter((request) => !textOfRequest(request).includes(never))).toEqual([]);
  });
});

/** A resume may compact earlier than an undisturbed run: what the model did and said must be the same. */
function outcome(played: Played) {
  const history = played.history as { type: string }[];
  return { answers: played.answers, history: history.filter(({ type }) => !type.startsWith("compaction.")) };
}

/** Side effects, constraints and decisions that the last summary should carry and does not. */
function lost({ checkpoints }: Played): string[] {
  const last = checkpoints.findLast(({ event }) => event.type === "compaction.done")?.event;
  if (last?.type !== "compaction.done") return ["no compaction"];
  const { carried } = last.summary as SummaryRecord;
  const happened = handoffFromJournal(checkpoints.filter(({ version }) => version <= last.to));
  return [
    ...happened.sideEffects.filter((effect) => !carried.sideEffects.some((kept) => isDeepStrictEqual(kept, effect))),
    ...carried.sideEffects.slice(happened.sideEffects.length).map((twice) => ({ twice })),
    ...happened.resources.filter((resource) => !carried.resources.includes(resource)),
    ...(carried.constraints.includes(never) ? [] : [never]),
    ...(carried.decisions.some(({ what }) => what === "go on") ? [] : ["go on"]),
  ].map((entry) => JSON.stringify(entry));
}
