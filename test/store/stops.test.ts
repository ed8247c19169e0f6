import { describe, expect, it } from "vitest";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { createStops } from "../../lib/store/stops.ts";

describe("the tenant's stop", () => {
  it("stands as it was set first, for its tenant alone, until it is lifted (G6)", async () => {
    const stops = createStops(createMemoryTable({ now: () => 0 }));
    const first = { reason: "fire", by: "ann", at: 1 };
    expect(await stops.set("acme", first)).toEqual(first);
    expect(await stops.set("acme", { reason: "other", by: "bob", at: 2 })).toEqual(first);
    expect([await stops.get("acme"), await stops.get("rival")]).toEqual([first, null]);
    await stops.lift("acme");
    await stops.lift("acme");
    expect(await stops.get("acme")).toBeNull();
  });
});
