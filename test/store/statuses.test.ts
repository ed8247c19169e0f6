import { describe, expect, it } from "vitest";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { apply } from "../../lib/core/apply.ts";
import { createStatuses } from "../../lib/store/statuses.ts";
import { created } from "../sessions/session-log.ts";

const state = apply(null, created(), { version: 1, at: 1000 });
const { tenant, sessionId } = state;

function statuses() {
  const store = createStatuses(createMemoryTable({ now: () => 0 }));
  const due = async () => (await store.due(Number.MAX_SAFE_INTEGER)).rows.map((row) => row.due);
  return { store, due };
}

describe("the projection of a session", () => {
  it("rests when nobody has written since it was seen", async () => {
    const { store, due } = statuses();
    await store.write(state, 1, 1000, 5000);
    await store.rest(state, 1, 1000, await store.seen(tenant, sessionId));
    expect(await due()).toEqual([]);
  });

  it("keeps what another asked the sweeper for after it was seen, also for equal values (H64)", async () => {
    const { store, due } = statuses();
    await store.write(state, 1, 1000, 5000);
    const seen = await store.seen(tenant, sessionId);
    await store.write(state, 1, 1000, 5000);
    await store.rest(state, 1, 1000, seen);
    expect(await due()).toEqual([5000]);
  });

  it("rests a session that has none yet, but not over one that came meanwhile", async () => {
    const { store, due } = statuses();
    const seen = await store.seen(tenant, sessionId);
    expect(seen).toBe(0);
    await store.rest(state, 1, 1000, seen);
    expect((await store.recent(tenant, { limit: 9 })).rows).toEqual([
      { sessionId, key: state.key, status: "created", at: 1000 },
    ]);
    await store.write(state, 1, 1000, 7000);
    await store.rest(state, 1, 1000, seen);
    expect(await due()).toEqual([7000]);
  });
});
