// compact: replaces the old part of what the model sees by a summary, as one event. Whatever goes wrong changes
// nothing but a note that it was refused and when it may be tried again (G13). Runs inside a turn before a model
// call, or on request between turns; the log keeps everything.
import { emptyHandoff } from "../core/handoff.ts";
import { inRole } from "../core/project/in-role.ts";
import type { Head } from "../store/log.ts";
import { toolsOf } from "./built-in/built-in-tools.ts";
import { type Attempt, refusalOf, summarise } from "./compact/summarise.ts";
import { agentOf, type Deps } from "./deps.ts";
import { readHandoff } from "./handoff.ts";
import type { StepInput, StepOutput } from "./io.ts";
import { decide, decideOwn, type Run, startRun } from "./run.ts";
import { compactionNeed } from "./think/compaction-need.ts";
import { readContext } from "./think/read-context.ts";

export async function compact(deps: Deps, input: StepInput): Promise<StepOutput> {
  const run = startRun(deps, input, "compact");
  const head = await run.head();
  if (head.state.turn && head.state.turn.owner !== input.execution) return run.output(head, { next: "done" });
  const decision = decide(deps, head, true);
  if (decision.next !== "compact") return run.output(head, decision);
  const attempt = await tryOnce(run, head);
  const after = attempt ? await commit(run, head, attempt) : head;
  return run.output(after, decideOwn(deps, after, input));
}

/** What came of it; null when nothing is to be done. A request is always answered, so that it is not tried for ever. */
async function tryOnce(run: Run, head: Head): Promise<Attempt | null> {
  const { deps } = run;
  const requested = head.state.marks.compactRequested !== undefined;
  const found = agentOf(deps, head.state.agent);
  if (found.kind === "flow") return requested ? refusalOf("requested", "no_model", "a flow has no conversation") : null;
  const agent = inRole(found, head.state);
  const context = await readContext(deps, head, agent, toolsOf(run, head, agent));
  const need = compactionNeed(head, agent, context, deps.clock.now());
  if (!need.compact) return requested ? refusalOf("requested", need.why, "there is nothing to summarise") : null;
  const handoff = (await readHandoff(deps, head)) ?? emptyHandoff;
  return summarise(deps, { head, agent, handoff, cause: need.cause });
}

/**
 * Appends the outcome where it still fits. A summary that another one has overtaken is only counted: its tokens are
 * spent. Events that came meanwhile stand behind the cut and stay visible.
 */
function commit(run: Run, from: Head, attempt: Attempt): Promise<Head> {
  const overtaken = refusalOf(attempt.event.cause, "overtaken", "another compaction was first", attempt.event);
  const decide = ({ state }: Head) => {
    if (state.lifecycle.kind === "closed") return null;
    const { summary, handoff, rolledBack } = from.state.marks;
    const { marks } = state;
    const same = marks.summary === summary && marks.handoff === handoff && marks.rolledBack === rolledBack;
    if (same) return attempt.event;
    return attempt.event.usdMicros > 0 || attempt.event.usage.inputTokens > 0 ? overtaken.event : null;
  };
  return from.state.turn ? run.commitOwned(decide, from) : run.commit(decide, from);
}
