// Busy policy `steer`: what was written to the running turn joins it before the model is asked again. What comes too
// late stays in the inbox and gets a turn of its own.
import type { Head } from "../../store/log.ts";
import type { OpenState, Run } from "../run.ts";
import { consumed, unread } from "../unread.ts";

/** Of a long queue only so much is looked through before each model call. */
const maxLooked = 50;

/** Answers the head afterwards; it is another one when messages joined, or when somebody else wrote meanwhile. */
export async function takeSteered(run: Run, head: Head & { state: OpenState }): Promise<Head & { state: OpenState }> {
  const messages = await unread(run.deps, head, { mode: "steer", limit: maxLooked });
  if (messages.length === 0) return head;
  let wrote = false;
  const after = await run.commitOwned((current) => {
    wrote = current.version === head.version;
    return wrote ? { type: "turn.steered", messages } : null;
  }, head);
  if (wrote) await consumed(run.deps, after, messages);
  return after as Head & { state: OpenState };
}
