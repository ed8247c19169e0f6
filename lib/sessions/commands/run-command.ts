// What each chat command does: the same control actions as the API's, and a sentence about it.
import { InvalidInput } from "../../core/errors.ts";
import type { Deps } from "../../steps/deps.ts";
import type { Head } from "../../store/log.ts";
import type { Accept } from "../accept.ts";
import { compactSession } from "../compact-session.ts";
import { type ControlOptions, type SessionAddress, stopSession } from "../control.ts";
import { currentSession } from "../current-session.ts";
import { type Notice, resetNotice } from "../reset-notice.ts";
import { resetSession } from "../reset-session.ts";
import { resumeSession } from "../resume-session.ts";
import { sessionHead } from "../session-head.ts";
import { forkSession } from "../time-travel/fork-session.ts";
import { retrySession } from "../time-travel/retry-session.ts";
import { undoTurns } from "../time-travel/rollback-session.ts";
import { nearestWhole } from "../time-travel/whole-version.ts";
import type { CommandPlan } from "./answer-command.ts";
import { type Command, commandHelp } from "./read-command.ts";
import { statusText } from "./status-text.ts";

export type Done = {
  answer: string /** The session after it, when it is another one. */;
  sessionId?: string;
  notice?: Notice;
};

/** Misuse is thrown: an argument that is none, or something that is not possible in this state. */
export async function runCommand(deps: Deps, message: Accept, command: Command, plan: CommandPlan): Promise<Done> {
  if (command.name === "help") return { answer: helpText() };
  if (command.name === "new") return startNew(deps, message, command, plan);
  if (plan.sessionId === "") return { answer: "There is no session yet: write a message to begin." };
  const at: SessionAddress = { tenant: message.tenant, sessionId: plan.sessionId, user: message.user };
  const options: ControlOptions = { as: { writer: `command/${plan.messageId}`, since: plan.version } };
  switch (command.name) {
    case "stop": {
      const after = await stopSession(deps, at, { ...options, ...(command.args ? { reason: command.args } : {}) });
      return { answer: stoppedText(after) };
    }
    case "status":
      noArguments(command);
      return { answer: await statusText(deps, at) };
    case "resume":
      noArguments(command);
      await resumeSession(deps, at, options);
      return { answer: "The session goes on." };
    case "compact":
      noArguments(command);
      await compactSession(deps, at, options);
      return { answer: "The conversation will be summarised before the next answer." };
    case "retry": {
      noArguments(command);
      const { state } = await retrySession(deps, at, options);
      return { answer: `Turn ${state.turns} goes on from before the step that failed.` };
    }
    case "undo": {
      const turns = wholeNumber(command) ?? 1;
      const { version } = await undoTurns(deps, at, { ...options, turns });
      return { answer: `${turns === 1 ? "The last turn is" : `${turns} turns are`} taken back (version ${version}).` };
    }
    case "fork":
      return fork(deps, at, command, plan);
  }
}

async function startNew(deps: Deps, message: Accept, command: Command, plan: CommandPlan): Promise<Done> {
  noArguments(command);
  if (plan.sessionId === "") {
    const { head } = await currentSession(deps, message);
    return { answer: "A new session begins.", sessionId: head.sessionId };
  }
  const at = { tenant: message.tenant, sessionId: plan.sessionId, user: message.user };
  const next = await resetSession(deps, at, { again: true });
  const notice = await resetNotice(deps, next, plan.messageId);
  return {
    answer: "A new session begins; the conversation before is closed.",
    sessionId: next.sessionId,
    ...(notice ? { notice } : {}),
  };
}

async function fork(deps: Deps, at: SessionAddress, command: Command, plan: CommandPlan): Promise<Done> {
  const head = await sessionHead(deps, at.tenant, at.sessionId);
  const version = wholeNumber(command) ?? (await nearestWhole(deps, head, plan.version, -1)) ?? plan.version;
  const made = await forkSession(deps, at, { version, id: plan.newId });
  const { parent, key } = made.state;
  return {
    answer: `A branch from version ${parent?.version ?? version} is session ${made.sessionId}; its key is ${key}`,
  };
}

function stoppedText({ state }: Head): string {
  if (state.turn) return "The work ends at its next step; then the session is suspended.";
  return "The session is suspended: the next message starts a clean one, /resume goes on with this one.";
}

function helpText(): string {
  return Object.values(commandHelp)
    .map(({ usage, does }) => `${usage}: ${does}`)
    .join("\n");
}

function noArguments(command: Command): void {
  if (command.args !== "") throw new InvalidInput(`it takes no arguments (${commandHelp[command.name].usage})`);
}

function wholeNumber(command: Command): number | undefined {
  if (command.args === "") return undefined;
  const value = Number(command.args);
  if (/^\d{1,12}$/.test(command.args) && value > 0) return value;
  throw new InvalidInput(`"${command.args}" is no number (${commandHelp[command.name].usage})`);
}
