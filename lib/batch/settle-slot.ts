// Writes down how a slot's run ended, as soon as it has: after its execution, and again by the sweeper.
import type { ProjectState } from "../core/project.ts";
import { settledTurn } from "../sessions/wait.ts";
import type { Deps } from "../steps/deps.ts";
import { projectGoesOn } from "../steps/project/goes-on.ts";
import type { Slot } from "../store/slots.ts";
import { parseRunKey } from "./run-key.ts";

/** True when the run has ended and the slot says so. A run whose session is gone counts as ended. */
export async function settleSlot(deps: Deps, tenant: string, slot: Slot): Promise<boolean> {
  const { sessionId, turn } = slot;
  if (sessionId === undefined || turn === undefined) return false;
  const end = (await settledTurn(deps, tenant, sessionId, turn)) ?? (await neverEnds(deps, tenant, sessionId, turn));
  if (!end) return false;
  const head = await deps.store.log.head(tenant, sessionId);
  const project = head?.state.project;
  // A project's run is all of its turns.
  if (head && project && (head.state.turn || projectGoesOn(deps, head))) return false;
  const { status: outcome, endReason } = project ? ended(project) : end;
  await deps.store.slots.settle(tenant, slot, { status: "done", outcome, endReason, at: deps.clock.now() });
  await deps.store.tasks.vacate(tenant, slot.task, slot.id);
  return true;
}

function ended({ status }: ProjectState): { status: "completed" | "error"; endReason: string } {
  return status === "passed" ? { status: "completed", endReason: "completed" } : { status: "error", endReason: status };
}

/** Erased, rolled back, or suspended before its turn began: there will be no other end. */
async function neverEnds(
  deps: Deps,
  tenant: string,
  sessionId: string,
  turn: number,
): Promise<{ status: "error"; endReason: string } | null> {
  const head = await deps.store.log.head(tenant, sessionId);
  if (!head) return { status: "error", endReason: "erased" };
  const { turns, lifecycle, turn: open } = head.state;
  if (open) return null;
  if (turns >= turn) return { status: "error", endReason: "rolled_back" };
  return lifecycle.kind === "open" ? null : { status: "error", endReason: lifecycle.kind };
}

/** The same for the session of a run, by its key. Answers whether there was something to settle. */
export async function settleRunOf(
  deps: Deps,
  session: { tenant: string; sessionId: string; key: string },
): Promise<boolean> {
  const run = parseRunKey(session.key);
  const slot = run ? await deps.store.slots.get(session.tenant, run.task, run.slot) : null;
  // A key can be written by anyone who sends messages: only the slot's own session counts.
  if (slot?.status !== "claimed" || slot.sessionId !== session.sessionId) return false;
  return settleSlot(deps, session.tenant, slot);
}
