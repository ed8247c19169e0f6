// remember: what a turn teaches about its user, after the turn and never in its way. One effect for a turn: the claim
// fences attempts, what was decided is stored before it is carried out, and the log says that it was done.
import { type BatonError, isDisposition, toErrorRecord, VersionConflict } from "../core/errors.ts";
import { countUsage } from "../steps/budget/count-usage.ts";
import { isHeld } from "../steps/budget/paid-call.ts";
import type { Deps } from "../steps/deps.ts";
import { createWriter } from "../steps/run.ts";
import type { Decided, Lesson } from "../store/lessons.ts";
import { decideFacts, nothingLearnt } from "./decide-facts.ts";
import { readSaid, type Said, type TurnPlace } from "./read-said.ts";

export type Remembered =
  | "learnt"
  /** Looked at, and nothing to be kept. */
  | "nothing"
  /** Failed; another attempt is due later. */
  | "retry"
  /** The turn has not ended. */
  | "unfinished"
  /** Somebody else is at it, or it is not due. */
  | "taken"
  /** Done already, or nothing to learn from. */
  | "gone";

const minute = 60_000;
/** Waits after each failed attempt; after the last one nothing is learnt from the turn. */
const retryAfterMs = [1, 5, 30, 120].map((minutes) => minutes * minute);
/** Longer than an attempt takes. */
const claimMs = 5 * minute;
const lookAgainMs = 5 * minute;
const maxRaces = 50;

/** Learns from one turn if that is due. Never throws for what a model does. */
export async function rememberTurn(deps: Deps, at: TurnPlace): Promise<Remembered> {
  const { lessons } = deps.store;
  const now = deps.clock.now();
  const lesson = await lessons.get(at);
  if (!lesson) return "gone";
  // Before the first attempt `due` is only when the sweeper looks.
  if (lesson.claims > 0 && lesson.due > now) return "taken";
  const said = await readSaid(deps, at);
  if (said === "unfinished") {
    if (lesson.due <= now) await lessons.lookAgain(at, lesson, { due: now + lookAgainMs });
    return "unfinished";
  }
  if (said === "void" || ((said.noted || said.sentences.length === 0) && !lesson.decided)) {
    await lessons.remove(at);
    return "gone";
  }
  const claimed = await lessons.claim(at, lesson, now + claimMs);
  if (claimed === "refused") return "taken";
  const decided = claimed.decided ?? (await decide(deps, at, said, claimed));
  return typeof decided === "string" ? decided : carryOut(deps, at, said, decided);
}

/** Has any agent a memory? */
export function learns({ agents }: Pick<Deps, "agents">): boolean {
  return [...agents.values()].some((agent) => agent.kind === "agent" && agent.memory.enabled);
}

/** Every turn of a session that is not done; without a read where no agent has a memory. */
export async function rememberSession(
  deps: Deps,
  { tenant, sessionId }: Omit<TurnPlace, "turn">,
): Promise<Remembered[]> {
  const outcomes: Remembered[] = [];
  if (!learns(deps)) return outcomes;
  for (const turn of await deps.store.lessons.turns(tenant, sessionId)) {
    outcomes.push(await rememberTurn(deps, { tenant, sessionId, turn }));
  }
  return outcomes;
}

/** What will be done, stored; or why this attempt ends here. */
async function decide(deps: Deps, at: TurnPlace, said: Said, claimed: Lesson): Promise<Decided | "retry" | "taken"> {
  const { lessons } = deps.store;
  let decided: Decided;
  try {
    decided = await decideFacts(deps, at, said);
  } catch (error) {
    const again = nextTry(deps, claimed, error);
    const { code } = toErrorRecord(error);
    deps.log.warn("long-term memory could not learn from a turn", { ...at, code, again: again !== null });
    if (again) {
      await lessons.lookAgain(at, claimed, again);
      return "retry";
    }
    decided = { add: [], close: [], event: nothingLearnt(at, code) };
  }
  return (await lessons.decide(at, claimed, decided)) === "ok" ? decided : "taken";
}

/** When the next attempt is due; null when there is none. */
function nextTry(deps: Deps, { attempts }: Lesson, error: unknown): { due: number; attempts?: number } | null {
  const now = deps.clock.now();
  const { retryAfterMs: asked = 0 } = error as Partial<BatonError>;
  // No attempt of this turn: the process stops, or the tenant has to wait.
  if (deps.stopping.aborted) return { due: now, attempts: attempts - 1 };
  if (isHeld(error)) return { due: now + asked, attempts: attempts - 1 };
  const wait = retryAfterMs[attempts - 1];
  const passing = isDisposition(error, "Transient") || isDisposition(error, "Conflict");
  return passing && wait !== undefined ? { due: now + Math.max(wait, asked) } : null;
}

/** May be repeated: each part finds what was done. */
async function carryOut(deps: Deps, at: TurnPlace, said: Said, decided: Decided): Promise<Remembered> {
  const { facts, lessons } = deps.store;
  const { tenant, user } = said.head.state;
  const scope = { tenant, user };
  // After a long stall: another attempt has done it, or the session was erased.
  if (!(await lessons.get(at))) return "gone";
  for (const fact of decided.add) await facts.add(scope, fact);
  for (const end of decided.close) await facts.close(scope, end);
  await note(deps, at, said, decided);
  await lessons.remove(at);
  return decided.add.length > 0 ? "learnt" : "nothing";
}

/** Says in the log what was learnt and what it cost, once. */
async function note(deps: Deps, at: TurnPlace, said: Said, { event }: Decided): Promise<void> {
  const writer = createWriter(`remember/${deps.ids.uuid()}`);
  let current: Said | "unfinished" | "void" = said;
  for (let race = 0; race < maxRaces; race++) {
    if (typeof current === "string" || current.noted) return;
    try {
      await countUsage(deps, await deps.store.log.append(current.head, event, writer));
      return;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      current = await readSaid(deps, at);
    }
  }
  throw new VersionConflict(`session ${at.sessionId}: lost the race for a version ${maxRaces} times`);
}
