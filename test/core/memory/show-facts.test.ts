import { describe, expect, it } from "vitest";
import { factsAt, fitFacts, showFact } from "../../../lib/core/memory/show-facts.ts";
import type { Fact } from "../../../lib/core/memory.ts";
import { isPersonal } from "../../../lib/core/memory.ts";

const fact = (id: string, more: Partial<Fact> = {}): Fact => ({
  id,
  text: `fact ${id}`,
  kind: "context",
  source: { sessionId: "20261130_120000_0000abcd", turn: 3 },
  origin: "user",
  validFrom: 86_400_000,
  storedAt: 10,
  revision: 1,
  ...more,
});

describe("factsAt", () => {
  it("shows what stood when the turn began, so that its requests begin the same", () => {
    const facts = [
      fact("later", { storedAt: 21 }),
      fact("b"),
      fact("ended", { closedAt: 20 }),
      fact("ends", { closedAt: 21 }),
    ];
    expect(factsAt(facts, 20).map(({ id }) => id)).toEqual(["b", "ends"]);
  });
});

describe("fitFacts", () => {
  const facts = ["a", "b", "c", "d"].map((id) => fact(id));

  it("shows all that fit, with origin and source, and ranks nothing then", () => {
    const ranked = () => expect.unreachable("not asked");
    expect(fitFacts(facts.slice(0, 1), 1000, ranked).map(showFact)).toEqual([
      { text: "fact a", origin: "user", source: "1970-01-02, session 20261130_120000_0000abcd turn 3" },
    ]);
  });

  it("else shows the nearest that fit, in the order of time", () => {
    const shown = fitFacts(facts, 90, () => [3, 1, 0, 2]);
    expect(shown.map(({ text }) => text)).toEqual(["fact b", "fact d"]);
  });
});

describe("isPersonal", () => {
  it("is true only for what the session's user wrote, and not a task in the user's name (H80)", () => {
    const from = (user: string, via: "chat" | "task" | "api") => ({ from: { user, via } });
    expect(isPersonal({ user: "ann" }, [from("ann", "chat"), from("ann", "api")])).toBe(true);
    expect(isPersonal({ user: "ann" }, [from("ann", "chat"), from("bob", "chat")])).toBe(false);
    expect(isPersonal({ user: "ann" }, [from("ann", "task")])).toBe(false);
  });
});
