// Busy policy `interrupt`: the running turn ends at its next step boundary, its partial work stays in the log, and the
// session takes the next message. Unlike a stop it suspends nothing.
import type { Deps } from "../steps/deps.ts";
import type { Head } from "../store/log.ts";
import { cancelSessionApprovals } from "./approvals/cancel-approvals.ts";
import { control } from "./control.ts";
import { wakeStopped } from "./recovery.ts";

/** Ends the turn that stands open in `head`, and no later one. */
export async function interruptTurn(deps: Deps, head: Head, user: string): Promise<void> {
  const at = { tenant: head.tenant, sessionId: head.sessionId, user };
  const turn = head.state.turn?.turn;
  const after = await control(deps, at, {}, ({ state }) =>
    turn === undefined || state.turn?.turn !== turn || state.turn.stop
      ? null
      : {
          type: "stop.requested",
          reason: "interrupted by a newer message",
          by: user,
          thenSuspend: false,
          endReason: "interrupted",
        },
  );
  if (after.state.turn?.turn !== turn) return;
  await cancelSessionApprovals(deps, at, "interrupted by a newer message");
  await wakeStopped(deps, after);
}
