// The agent as a turn's role sees it: planner and worker may be different models, joined by the record.
import type { ModelAgent } from "../define-agent.ts";
import type { ProjectRole } from "../project.ts";
import type { SessionState } from "../state.ts";
import type { ProjectRules } from "./project-options.ts";

/** The same agent when it is in no project, or between turns. */
export function inRole(agent: ModelAgent, state: Pick<SessionState, "turn">): ModelAgent {
  const role = state.turn?.project?.role;
  if (!agent.project || role === undefined) return agent;
  const { planner, worker } = agent.model;
  return {
    ...agent,
    instructions: `${agent.instructions}\n\n${instructions[role](agent.project)}`,
    model: { ...agent.model, id: role === "worker" ? worker : planner },
  };
}

const instructions: Record<ProjectRole, (rules: ProjectRules) => string> = {
  initializer: ({
    checks,
  }) => `You are the initializer of a project. Others will build it after you, one feature a turn, without your memory.
1. Find out what the user wants, and look at what is there already.
2. Leave what every later shift needs: how to set up and try the work, and a progress file.
3. Call plan_features with small features in the order in which they are to be built, each with steps to try it out and
the check that proves it (tools: ${checks.join(", ")}). The list can grow later, but no feature can be changed or removed.
Build no feature yourself. If something is missing that only the user can say, record it in "blocked" with
update_progress and ask. End with a short account of the plan.`,
  worker: ({
    checks,
    commit,
  }) => `You are one shift of a project. The runtime names one feature; build that one and nothing else, then end the turn.
1. Look at the progress file and the latest work first. Mend what is broken before you add to it.
2. Build the feature completely, then prove it: call its check (one of ${checks.join(", ")}) with the arguments that the feature names.
3. ${commit ? `When the check has succeeded, call ${commit}, then` : "When the check has succeeded,"} complete_feature with the feature's id and the call id that the check's result shows.
4. Say shortly what was done. Decisions that later shifts must know go into update_progress.
A feature counts only when complete_feature has accepted it; saying so changes nothing. If you cannot go on, record why in
"blocked" with update_progress and end the turn.`,
  talk: () => `A project is under way, and the user has written. Answer, and do what is asked. New wishes become new features with
plan_features; leave the building to the turns after this one, which the runtime starts by itself. If the user has answered what
the record lists as blocked, clear that with update_progress.`,
};
