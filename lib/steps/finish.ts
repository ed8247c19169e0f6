// finish: ends the turn with its answer and true reason, then looks at the inbox: next turn or done. The
// look comes after the commit, so a message accepted during the turn is never left behind.
import { textOf } from "../core/content.ts";
import { endReason } from "../core/decide.ts";
import type { Flow } from "../core/define-flow.ts";
import type { EndReason, Event } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { renderStanding } from "../core/project/render-turn.ts";
import type { Head } from "../store/log.ts";
import { countUsage } from "./budget/count-usage.ts";
import { answered, deliverOf } from "./deliver-of.ts";
import { agentOf, type Deps } from "./deps.ts";
import type { StepInput, StepOutput } from "./io.ts";
import type { OpenState } from "./run.ts";
import { decide, decideOptions, decideOwn, doneOutput, isFenced, type Run, startRun } from "./run.ts";
import { startTurn } from "./start-turn.ts";

export async function finish(deps: Deps, input: StepInput): Promise<StepOutput> {
  const run = startRun(deps, input, "finish");
  const head = await run.owned().catch((error: unknown) => {
    if (isFenced(error)) return null;
    throw error;
  });
  if (!head) return repeated(run);
  if (decide(deps, head).next !== "finish") return run.output(head);
  const reason = endReason(head.state.turn, deps.clock.now(), decideOptions(deps, head).limits);
  const answer = await answerOf(deps, head, reason);
  const deliver = await deliverOf(deps, head, reason);
  const ended = await run.commitOwned((current): Event | null => {
    // Something came between (a stop): decide anew with the next visit.
    if (endReason(current.state.turn, deps.clock.now(), decideOptions(deps, current).limits) !== reason) return null;
    const status = reason === "completed" ? "completed" : "error";
    return { type: "turn.finished", turn: current.state.turn.turn, status, endReason: reason, answer, ...deliver };
  }, head);
  if (ended.state.turn) return run.output(ended);
  if (deliver.deliver !== undefined) await answered(deps, { ...input, turn: head.state.turn.turn });
  return goOn(run, ended);
}

/** An earlier attempt may have ended the turn and failed after it: what comes next is still to be started. */
async function repeated(run: Run): Promise<StepOutput> {
  const head = await run.head();
  const { turn, lastTurn } = head.state;
  return !turn && lastTurn?.turn === run.input.turn ? goOn(run, head) : doneOutput(run.input);
}

async function goOn(run: Run, ended: Head): Promise<StepOutput> {
  await countUsage(run.deps, ended);
  const next = await startTurn(run, ended);
  return run.output(next, decideOwn(run.deps, next, run.input));
}

const said: Record<Exclude<EndReason, "completed">, string> = {
  not_verified: "Not verified: what this turn was for is not proven by a successful check.",
  stopped: "Stopped.",
  rounds: "Stopped: this turn reached its limit of rounds. What was done so far is kept; write again to go on.",
  turn_minutes: "Stopped: this turn reached its time limit. What was done so far is kept; write again to go on.",
  loop: "Stopped: the same tool was called with the same arguments again and again.",
  budget_exceeded: "Stopped: the budget does not allow the next model call, so it was not made.",
  truncated: "The answer was truncated: it did not fit the output limit, even when asked to be shorter.",
  refusal: "The model declined to answer this.",
  incomplete: "The model ended without completing its answer.",
  error: "The turn failed.",
  interrupted: "Interrupted by a newer message.",
  rolled_back: "Rolled back.",
  reset: "The session was reset.",
};

/** What the user reads: the model's text, for every end but `completed` what happened, and how a project stands. */
async function answerOf(deps: Deps, head: Head & { state: OpenState }, reason: EndReason): Promise<string> {
  const { turn, project } = head.state;
  const told = await answerOfTurn(deps, head, reason);
  if (!turn.project) return told;
  return [told, renderStanding(project, turn.project, reason)].filter((part) => part !== "").join("\n\n");
}

async function answerOfTurn(deps: Deps, head: Head & { state: OpenState }, reason: EndReason): Promise<string> {
  const { turn } = head.state;
  const agent = agentOf(deps, head.state.agent);
  if (reason === "completed" && agent.kind === "flow") return flowAnswer(deps, head, agent);
  const version = turn.ending?.answerVersion ?? turn.replyVersion;
  const found = version > 0 ? await deps.store.log.at(head.tenant, head.sessionId, version) : null;
  const text = found?.event.type === "model.replied" ? textOf(found.event.content) : "";
  if (reason === "completed") return text;
  const why = turn.stop && reason === "stopped" ? `Stopped: ${turn.stop.reason}.` : said[reason];
  const detail = found && "error" in found.event ? ` ${found.event.error.message}` : "";
  return [text, `${why}${detail}`].filter((part) => part !== "").join("\n\n");
}

async function flowAnswer(deps: Deps, head: Head & { state: OpenState }, flow: Flow): Promise<string> {
  const at = head.state.turn.flow?.stateVersion ?? 0;
  const found = await deps.store.log.at(head.tenant, head.sessionId, at);
  const state: Json = found?.event.type === "flow.advanced" ? found.event.state : null;
  return flow.answer ? flow.answer(state as never) : JSON.stringify(state, null, 2);
}
