// The runs of a task, newest first, each with its session, its outcome and how its delivery stands.
import { NotFound } from "../core/errors.ts";
import type { Page } from "../sessions/events.ts";
import type { Deps } from "../steps/deps.ts";
import { type RunView, viewRun } from "./task-view.ts";

/** Throws `NotFound`, and `InvalidInput` for a cursor that no earlier page gave. */
export async function listRuns(
  deps: Pick<Deps, "store">,
  at: { tenant: string; name: string },
  options: { limit: number; cursor?: string },
): Promise<Page<RunView>> {
  const { tenant, name } = at;
  if (!(await deps.store.tasks.get(tenant, name))) throw new NotFound("no such task");
  const page = await deps.store.slots.recent(tenant, name, options);
  const items = await Promise.all(
    page.items.map(async (slot) => {
      const { sessionId, turn } = slot;
      if (sessionId === undefined || turn === undefined) return viewRun(slot);
      return viewRun(slot, await deps.store.deliveries.get(tenant, sessionId, turn));
    }),
  );
  return { items, ...(page.cursor === undefined ? {} : { cursor: page.cursor }) };
}
