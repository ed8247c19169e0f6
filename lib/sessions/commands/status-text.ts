// The answer to /status: what the session is doing, from its latest snapshot.
import { sessionStatus } from "../../core/state.ts";
import type { Deps } from "../../steps/deps.ts";
import { iso, shownUsage } from "../outside-units.ts";
import { sessionHead } from "../session-head.ts";

export async function statusText(deps: Deps, at: { tenant: string; sessionId: string }): Promise<string> {
  const { state, version } = await sessionHead(deps, at.tenant, at.sessionId);
  const waiting = await deps.store.inbox.waiting(at.tenant, at.sessionId);
  const { lifecycle, turn, resumePending, lastTurn } = state;
  const asking = turn?.calls.filter((call) => call.status === "asking").map((call) => call.tool) ?? [];
  const running = turn?.calls.filter((call) => call.status === "started").map((call) => call.tool) ?? [];
  const lines = [
    `Session ${state.sessionId} (${state.agent}), version ${version}: ${sessionStatus(state)}`,
    ...(turn ? [`Turn ${turn.turn}, round ${turn.round}, since ${iso(turn.startedAt)}`] : []),
    ...(running.length > 0 ? [`Running: ${running.join(", ")}`] : []),
    ...(asking.length > 0 ? [`Waiting for a decision on: ${asking.join(", ")}`] : []),
    ...(turn?.stop ? [`Stopping: ${turn.stop.reason}`] : []),
    ...(lifecycle.kind === "suspended" ? [`Suspended: ${lifecycle.cause}`] : []),
    ...(resumePending ? [`Interrupted (${resumePending.cause}), to be resumed`] : []),
    ...(!turn && lastTurn ? [`Last turn: ${lastTurn.turn}, ${lastTurn.endReason}`] : []),
    `Messages waiting: ${waiting.length}`,
    `Spent: ${shownUsage(state.usage).usd} USD`,
  ];
  return lines.join("\n");
}
