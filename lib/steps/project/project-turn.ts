// The first event of a project's turn: with the user's message, or with one of the runtime that names the feature. The
// latter is made at the very write that starts the turn: so it is there once for each turn, whatever dies, and a stop, a
// reset or a rollback never finds it waiting.
import { AgentChanged } from "../../core/errors.ts";
import type { EventOf } from "../../core/event.ts";
import { emptyHandoff } from "../../core/handoff.ts";
import { renderTurn } from "../../core/project/render-turn.ts";
import { type ProjectTurn, projectTurn } from "../../core/project.ts";
import type { Head } from "../../store/log.ts";
import { agentOf, type Deps } from "../deps.ts";
import { readHandoff } from "../handoff.ts";

/** What the turn that a message starts is for; undefined when the agent is in no project. */
export function talkTurn(deps: Pick<Deps, "agents">, { state }: Pick<Head, "state">): ProjectTurn | undefined {
  const agent = deps.agents.get(state.agent);
  if (agent?.kind !== "agent" || !agent.project) return undefined;
  return projectTurn(state.project, agent.project, { auto: false });
}

/** The start of the next turn that nobody has written to; its owner is to be filled in. Only for a session whose project goes on. */
export async function autoTurn(
  deps: Pick<Deps, "agents" | "store" | "clock">,
  head: Head,
): Promise<EventOf<"turn.started">> {
  const agent = agentOf(deps, head.state.agent);
  if (agent.kind !== "agent" || !agent.project)
    throw new AgentChanged(`agent "${agent.name}" is in no project any more`);
  const { state } = head;
  const turn = state.turns + 1;
  const project = projectTurn(state.project, agent.project, { auto: true });
  const record = (await readHandoff(deps, head)) ?? emptyHandoff;
  const message = {
    messageId: `project-${state.sessionId}-${turn}`,
    seq: state.marks.inboxSeq,
    content: [{ type: "text" as const, text: renderTurn(record, project) }],
    at: deps.clock.now(),
    from: { user: state.user, via: "task" as const },
  };
  return { type: "turn.started", turn, owner: "", messages: [message], project };
}
