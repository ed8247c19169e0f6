// think: asks the model once (or takes one step of a flow) and commits what came of it. It decides anew
// from the log first, so a visit that comes too early or twice does nothing.
import type { Decision } from "../core/decide.ts";
import { inRole } from "../core/project/in-role.ts";
import type { Head } from "../store/log.ts";
import type { Deps } from "./deps.ts";
import { agentOf } from "./deps.ts";
import type { StepInput, StepOutput } from "./io.ts";
import { decide, type Run, startRun } from "./run.ts";
import { advanceFlow } from "./think/flow-step.ts";
import { askModel } from "./think/model-step.ts";
import { takeSteered } from "./think/take-steered.ts";
import { recallFacts } from "./think/turn-facts.ts";

export async function think(deps: Deps, input: StepInput): Promise<StepOutput> {
  const run = startRun(deps, input, "think");
  let head = await run.owned();
  let decision = decide(deps, head);
  const agent = agentOf(deps, head.state.agent);
  if (decision.next === "think" && agent.kind === "agent") {
    const before = head.version;
    head = await takeSteered(run, head);
    head = await recallFacts(run, head, inRole(agent, head.state));
    // A stop may have come in between.
    if (head.version !== before) decision = decide(deps, head);
  }
  if (decision.next !== "think") return leave(run, head, decision);
  const after =
    agent.kind === "flow" ? await advanceFlow(run, head, agent) : await askModel(run, head, inRole(agent, head.state));
  return after === "compact" ? leave(run, head, decide(deps, head, true)) : leave(run, after, decide(deps, after));
}

/** A wait that is too long for the machine ends the segment: the sweeper starts the next one when it is over. */
async function leave(run: Run, head: Head, decision: Decision): Promise<StepOutput> {
  if (decision.next === "done" && decision.dueAt !== undefined) {
    const { clock, store } = run.deps;
    await store.statuses.write(head.state, head.version, clock.now(), decision.dueAt);
  }
  return run.output(head, decision);
}
