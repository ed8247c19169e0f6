// Reads a history backwards as the store does, and builds the context from what was read.
import { buildContext, type ContextInput } from "../../../lib/core/context/build-context.ts";
import type { LoggedEvent } from "../../../lib/core/context/logged-event.ts";
import { windowFor } from "../../../lib/core/context/window-for.ts";
import type { TurnState } from "../../../lib/core/state.ts";
import { testAgent } from "./histories.ts";

export function readAndBuild(
  events: LoggedEvent[],
  options: Partial<ContextInput> & { openTurnVersion?: number } = {},
) {
  const { agent = testAgent(), openTurnVersion, ...more } = options;
  const full = { ...testAgent(), ...agent };
  const state = stateAt(openTurnVersion);
  const window = windowFor({ agent: full, state, tools: [], ...(more.handoff ? { handoff: more.handoff } : {}) });
  let read = 0;
  for (const { event, version } of events.toReversed()) {
    read++;
    if (window.add(event, version) === "enough") break;
  }
  const result = window.result();
  const turnStart = events.find((logged) => logged.version === result.turnStartVersion);
  return {
    ...buildContext({ agent: full, state, tools: [], ...result, ...(turnStart ? { turnStart } : {}), ...more }),
    read,
  };
}

const noContext = { tokens: 0, version: 0 };

function openTurn(startedVersion: number): TurnState {
  const fixed = {
    turn: 1,
    startedAt: 0,
    owner: "x",
    segment: 0,
    roundsInSegment: 0,
    historyInSegment: 0,
    round: 0,
    replyVersion: 0,
    waitedMs: 0,
  };
  return { ...fixed, startedVersion, phase: "think", calls: [], continuations: 0 };
}

function stateAt(startedVersion?: number): ContextInput["state"] {
  return { context: noContext, turn: startedVersion === undefined ? null : openTurn(startedVersion) };
}
