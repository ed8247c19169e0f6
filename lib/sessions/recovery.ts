// Starting what stands still, at once: by a message, by a person. The sweeper does the same a little later, so a
// failure here is only a delay.
import { VersionConflict } from "../core/errors.ts";
import type { ResumeCause } from "../core/event.ts";
import type { Deps } from "../steps/deps.ts";
import { createWriter } from "../steps/run.ts";
import type { Head } from "../store/log.ts";
import { sweepSession } from "./sweep.ts";

/** Takes an interrupted turn up. `cause` of a turn that is merely found stuck is written down first. */
export async function startRecovery(deps: Deps, head: Head, cause: ResumeCause): Promise<void> {
  if (!head.state.turn) return;
  if (cause === "stuck" && !head.state.resumePending) await mark(deps, head);
  await wake(deps, head, cause);
}

/** A turn that was told to stop and has no execution any more gets one, to end it. */
export async function wakeStopped(deps: Deps, head: Head): Promise<void> {
  if (head.state.turn?.stop) await wake(deps, head, "requested");
}

async function wake(deps: Deps, head: Head, cause: ResumeCause): Promise<void> {
  try {
    // One name for one version: many who find it at once start one execution.
    await sweepSession(deps, head, { cause, slot: "now" });
  } catch (error) {
    deps.log.warn("left to the sweeper", {
      sessionId: head.sessionId,
      error: error instanceof Error ? error.name : "Error",
    });
  }
}

async function mark(deps: Deps, head: Head): Promise<void> {
  try {
    const writer = createWriter(`recovery/${deps.ids.uuid()}`);
    await deps.store.log.append(head, { type: "session.resume_marked", cause: "stuck" }, writer);
  } catch (error) {
    // Somebody wrote: then it is not stuck.
    if (!(error instanceof VersionConflict)) throw error;
  }
}
