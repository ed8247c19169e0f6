// One visit of a step to a session: who writes, what stands now, and the commit loop. Every write goes
// through here, so every write is fenced and ordered.
import { type DecideOptions, type Decision, decideNext } from "../core/decide.ts";
import { Fenced, isDisposition, NotFound, VersionConflict } from "../core/errors.ts";
import type { Event } from "../core/event.ts";
import { executionName } from "../core/ids.ts";
import type { SessionState, TurnState } from "../core/state.ts";
import { sha256 } from "../store/encoding.ts";
import type { Head, Writer } from "../store/log.ts";
import { agentOf, type Deps } from "./deps.ts";
import type { StepInput, StepName, StepOutput } from "./io.ts";
import { projectGoesOn } from "./project/goes-on.ts";

/** Losing a race for a version this often means something other than parallel calls. */
const maxRaces = 200;

export type Run = {
  deps: Deps;
  input: StepInput;
  writer: Writer;
  /** The latest version. Throws `NotFound`. */
  head(): Promise<Head>;
  /** The latest version, if this execution owns the open turn; else throws `Fenced`. */
  owned(): Promise<Head & { state: OpenState }>;
  /**
   * Appends what `decide` answers for the latest version (null: nothing), again after every lost race. `from` saves the first
   * read. `decide` must not have effects.
   */
  commit(decide: (head: Head) => Event | null, from?: Head): Promise<Head>;
  /** The same, fenced: `decide` sees only states whose open turn this execution owns. */
  commitOwned(decide: (head: Head & { state: OpenState }) => Event | null, from?: Head): Promise<Head>;
  /** What must happen next, as the machine needs it. */
  output(head: Head, decision?: Decision): StepOutput;
};

export type OpenState = SessionState & { turn: TurnState };

export function startRun(deps: Deps, input: StepInput, step: StepName): Run {
  const writer = createWriter(`${input.execution}/${step}/${deps.ids.uuid()}`);
  const { log } = deps.store;

  async function head(): Promise<Head> {
    const found = await log.head(input.tenant, input.sessionId);
    if (!found) throw new NotFound(`session ${input.sessionId} does not exist`);
    return found;
  }

  async function commit(decide: (head: Head) => Event | null, from?: Head): Promise<Head> {
    let current = from ?? (await head());
    for (let race = 0; race < maxRaces; race++) {
      const event = decide(current);
      if (!event) return current;
      try {
        return await log.append(current, event, writer);
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
        current = await head();
      }
    }
    throw new VersionConflict(`session ${input.sessionId}: lost the race for a version ${maxRaces} times`);
  }

  return {
    deps,
    input,
    writer,
    head,
    commit,
    owned: async () => fence(await head(), input),
    commitOwned: (decide, from) => commit((current) => decide(fence(current, input)), from),
    output: (current, decision) => toOutput(input, current, decision ?? decide(deps, current)),
  };
}

export function createWriter(name: string): Writer {
  let count = 0;
  return { next: () => `${name}.${++count}` };
}

/** What must happen next to the session, by its agent's limits. */
export function decide(deps: Deps, head: Head, compactionDue = false): Decision {
  return decideNext(head.state, deps.clock.now(), { ...decideOptions(deps, head), compactionDue });
}

/** The same for an execution that may not own the turn: what belongs to another one is its business. */
export function decideOwn(deps: Deps, head: Head, input: StepInput): Decision {
  const { turn, marks, turns } = head.state;
  // Each turn of a project gets an execution of its own, since the history of one is bounded.
  const isOver = !turn && marks.compactRequested === undefined && input.turn <= turns;
  if (isOver && projectGoesOn(deps, head)) return { next: "yield", turn: turns + 1, segment: 0 };
  const mine = turn ? turn.owner === input.execution : marks.compactRequested !== undefined;
  return mine ? decide(deps, head) : { next: "done" };
}

export function decideOptions(deps: Deps, head: Head): DecideOptions {
  const { limits } = agentOf(deps, head.state.agent);
  return { limits, ...(deps.roundsPerSegment ? { roundsPerSegment: deps.roundsPerSegment } : {}) };
}

/** The name of the execution for a turn's segment; see `executionName`. */
export function nameExecution(at: {
  tenant: string;
  sessionId: string;
  turn: number;
  segment: number;
  salt?: string;
}): string {
  return executionName({ ...at, sessionHash: sha256(`${at.tenant}#${at.sessionId}`) });
}

/** True for what a step answers with "nothing more to do here" instead of failing. */
export function isFenced(error: unknown): boolean {
  return (
    error instanceof Fenced || (error instanceof Error && error.name === "Fenced" && isDisposition(error, "Conflict"))
  );
}

function fence(head: Head, input: StepInput): Head & { state: OpenState } {
  const { turn } = head.state;
  if (turn?.owner !== input.execution) {
    throw new Fenced(`the turn belongs to ${turn?.owner ?? "nobody"}, not to ${input.execution}`);
  }
  return head as Head & { state: OpenState };
}

function toOutput(input: StepInput, head: Head, decision: Decision): StepOutput {
  const { tenant, sessionId } = input;
  const nextTurn = decision.next === "yield" ? decision.turn : undefined;
  const turn = nextTurn ?? head.state.turn?.turn ?? input.turn;
  // The machine adds one.
  const segment = nextTurn === undefined ? (head.state.turn?.segment ?? input.segment) : -1;
  return {
    tenant,
    sessionId,
    turn,
    segment,
    execution: input.execution,
    next: decision.next,
    calls: decision.next === "act" ? decision.calls : [],
    waitSeconds: decision.next === "wait" ? Math.max(1, decision.seconds) : 0,
    handOver: decision.next === "yield" ? nameExecution({ tenant, sessionId, turn, segment: decision.segment }) : "",
  };
}

/** The output of a step that has nothing to do any more. */
export function doneOutput(input: StepInput): StepOutput {
  const { tenant, sessionId, turn, segment, execution } = input;
  return { tenant, sessionId, turn, segment, execution, next: "done", calls: [], waitSeconds: 0, handOver: "" };
}
