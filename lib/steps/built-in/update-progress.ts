// update_progress: the model writes what the next shift must know. Committed as one event before the call's own
// outcome; a second visit after a crash between the two finds it there and writes nothing.
import { textOf } from "../../core/content.ts";
import { defineTool, type Tool } from "../../core/define-tool.ts";
import type { Event, InboxMessage } from "../../core/event.ts";
import type { HandoffRecord } from "../../core/handoff.ts";
import { applyProgress, type ProgressUpdate, progressUpdate } from "../../core/progress.ts";
import { canonical } from "../../store/encoding.ts";
import type { Head } from "../../store/log.ts";
import type { Deps } from "../deps.ts";
import { currentHandoff } from "../handoff.ts";
import type { OpenState, Run } from "../run.ts";

type OpenHead = Head & { state: OpenState };

const definition = defineTool({
  name: "update_progress",
  description: [
    "Keeps the record of this work that you are shown again after an interruption, a summary, or in a new session.",
    "Call it at turning points: the task is clear, a part is finished and verified, a decision is made, a way proves a dead end, you hand over or are blocked.",
    "Also at once when the user sets a rule for the rest of the work (never …, always …): put it into constraints in the user's own words.",
    "Not after every step. Fields that you leave out stay as they are. Effects of tools are recorded without you.",
  ].join(" "),
  input: progressUpdate,
  effect: "read",
  run: () => ({}),
});

/** The tool bound to one visit of a session. */
export function updateProgressTool(run: Run): Tool {
  return { ...definition, run: (input) => updateProgress(run, input as ProgressUpdate) };
}

async function updateProgress(run: Run, update: ProgressUpdate) {
  for (;;) {
    const head = await run.owned();
    const current = await currentHandoff(run.deps, head);
    const at = { turn: head.state.turn.turn, userText: await userText(run.deps, head) };
    const { record, refused } = applyProgress(current.record, update, at);
    const same = current.stored && canonical(record) === canonical(current.stored);
    if (same || (await commit(run, head, record))) {
      return { recorded: true, constraints: record.constraints, ...(refused.length > 0 ? { refused } : {}) };
    }
  }
}

/** False when another record was written or an effect has ended meanwhile: the record would not tell of it. */
async function commit(run: Run, head: OpenHead, record: HandoffRecord): Promise<boolean> {
  let wrote = false;
  const { handoff, journal } = head.state.marks;
  await run.commitOwned(({ state: { marks }, version }) => {
    const same = journal === undefined ? version === head.version : marks.journal === journal;
    wrote = same && marks.handoff === handoff;
    return wrote ? { type: "handoff.updated", record } : null;
  }, head);
  return wrote;
}

/** What the user has written in the open turn. */
async function userText(deps: Deps, head: OpenHead): Promise<string> {
  const { startedVersion } = head.state.turn;
  const { inbox } = head.state.marks;
  const versions = [startedVersion, ...(inbox && inbox > startedVersion ? [inbox] : [])];
  const found = await Promise.all(versions.map((version) => deps.store.log.at(head.tenant, head.sessionId, version)));
  return found
    .flatMap((checkpoint) => (checkpoint ? writtenBy(checkpoint.event) : []))
    .map((message) => textOf(message.content))
    .join("\n");
}

/** What people wrote: the runtime's own message of a project's turn lifts nothing. */
function writtenBy(event: Event): InboxMessage[] {
  if (event.type === "turn.steered") return event.messages;
  return event.type === "turn.started" && !event.project?.auto ? event.messages : [];
}
