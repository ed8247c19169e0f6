// A session as it is shown outside, from its latest snapshot alone.
import type { Checkpoint } from "../core/checkpoint.ts";
import { type SessionStatus, sessionStatus, type TurnStatus, turnStatus } from "../core/state.ts";
import { iso, type ShownUsage, shownUsage } from "./outside-units.ts";

export type SessionView = {
  id: string;
  key: string;
  tenant: string;
  user: string;
  agent: string;
  status: SessionStatus;
  version: number;
  /** Number of the last turn that was started; 0: none. */
  turn: number;
  /** Status of that turn; absent before the first. */
  turnStatus?: TurnStatus;
  createdAt: string;
  lastUserAt: string;
  title: string;
  parent?: { sessionId: string; version: number };
  closedBy?: string;
  resumePending?: { cause: string; at: string };
  suspended?: { cause: string; at: string };
  usage: ShownUsage;
};

export function viewSession({ version, state }: Pick<Checkpoint, "version" | "state">): SessionView {
  const { lifecycle, resumePending, parent } = state;
  return {
    id: state.sessionId,
    key: state.key,
    tenant: state.tenant,
    user: state.user,
    agent: state.agent,
    status: sessionStatus(state),
    version,
    turn: state.turns,
    ...(state.turns > 0 ? { turnStatus: turnStatus(state) } : {}),
    createdAt: iso(state.createdAt),
    lastUserAt: iso(state.lastUserAt),
    title: state.title,
    ...(parent ? { parent } : {}),
    ...(lifecycle.kind === "closed" ? { closedBy: lifecycle.reason } : {}),
    ...(resumePending ? { resumePending: { cause: resumePending.cause, at: iso(resumePending.at) } } : {}),
    ...(lifecycle.kind === "suspended" ? { suspended: { cause: lifecycle.cause, at: iso(lifecycle.at) } } : {}),
    usage: shownUsage(state.usage),
  };
}
