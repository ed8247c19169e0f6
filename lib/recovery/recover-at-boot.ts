// What a new process does first, when it is the only one: whatever has an open turn or a waiting message goes on. A
// tool that kills its process each time must not take innocent sessions with it, so those that have died before without
// a step go on one after the other: the killer is found alone, and the others get on (H26).
import { maxRecoveries } from "../core/limits.ts";
import { turnStatus } from "../core/state.ts";
import { type SweepSessionOptions, sweepSession } from "../sessions/sweep.ts";
import type { Deps } from "../steps/deps.ts";
import type { Head } from "../store/log.ts";
import { sweepAll } from "./sweep-all.ts";

export type Boot = {
  /** How many of each the sweep has found. `held`: suspects. */
  counts: Record<string, number>;
  /** For later sweeps: suspects whose turn has not come. */
  hold: NonNullable<SweepSessionOptions["hold"]>;
  /** Lets the suspects go on, each alone for a while; resolves when the last one has been started. Call it once. */
  goOn(): Promise<void>;
};

/** All suspects together wait about this long for those before them … */
const patienceMs = 60_000;
/** … each of them between these. An innocent session needs no more for a step, unless its tool is a slow one. */
const longestAloneMs = 10_000;
const shortestAloneMs = 1000;

/** `slot` sets this boot's executions apart from another's. No other process may be running the sessions. */
export async function recoverAtBoot(deps: Deps, options: { slot: string }): Promise<Boot> {
  const atOnce: Head[] = [];
  const suspects: Head[] = [];
  const { counts } = await sweepAll(deps, {
    before: Number.MAX_SAFE_INTEGER,
    cause: "crash",
    slot: options.slot,
    hold: (head) => {
      const suspected = isSuspect(head);
      (suspected ? suspects : atOnce).push(head);
      return suspected;
    },
  });
  const accused = accusedOf(suspects);
  const waiting = new Map(inOrder(suspects, accused).map((head) => [nameOf(head), head]));
  const aloneMs = Math.min(
    longestAloneMs,
    Math.max(shortestAloneMs, Math.round(patienceMs / Math.max(1, suspects.length))),
  );

  async function goOn(): Promise<void> {
    let before = atOnce;
    for (const [name, head] of waiting) {
      await gotOn(deps, before, aloneMs);
      if (deps.stopping.aborted) return;
      waiting.delete(name);
      const cause = accused && accused !== head ? "crash_elsewhere" : "crash";
      await sweepSession(deps, head, { cause, slot: options.slot }).catch((error: unknown) => {
        const name = error instanceof Error ? error.name : "Error";
        deps.log.error("not recovered at boot", { sessionId: head.sessionId, error: name });
      });
      before = [head];
    }
  }
  return { counts, hold: (head) => waiting.has(nameOf(head)), goOn };
}

/** It has died before without a step since, and nothing says that it ended otherwise this time. */
function isSuspect({ state }: Head): boolean {
  const { turn, recoveries, resumePending } = state;
  return turn !== null && recoveries > 0 && !turn.stop && !resumePending && turnStatus(state) !== "waiting_for_input";
}

/**
 * Suspects were started one after the other, so the one that wrote last was the last one started: the process died of
 * it, and the others were only there. Null after the first deaths, when all had been started at once.
 */
function accusedOf(suspects: readonly Head[]): Head | null {
  const last = suspects.toSorted((a, b) => a.at - b.at).at(-1);
  return last && last.state.recoveries > 1 ? last : null;
}

/** The least suspicious first. The accused that is given up runs nothing any more: it keeps nobody waiting. */
function inOrder(suspects: readonly Head[], accused: Head | null): Head[] {
  const rank = (head: Head) =>
    head === accused && head.state.recoveries >= maxRecoveries ? -1 : head.state.recoveries;
  return suspects.toSorted((a, b) => rank(a) - rank(b) || a.at - b.at);
}

/** Resolves when each of them has committed a step or ended since, or when the time is over. */
async function gotOn(deps: Deps, since: readonly Head[], withinMs: number): Promise<void> {
  const enough = new AbortController();
  const over = AbortSignal.any([enough.signal, deps.stopping]);
  const time = deps.clock.sleep(withinMs, over).catch(() => {});
  await Promise.race([time, Promise.all(since.map((head) => oneGotOn(deps, head, over)))]);
  enough.abort();
}

function oneGotOn(deps: Deps, since: Head, over: AbortSignal): Promise<void> {
  const { tenant, sessionId } = since;
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = async () => {
    // What cannot be read now has until the time is over.
    const head = await deps.store.log.head(tenant, sessionId).catch(() => since);
    if (!head || hasGotOn(deps, since, head)) resolve();
  };
  const unsubscribe = deps.live.subscribe(tenant, sessionId, (message) => {
    if (message.kind === "version") void look();
  });
  over.addEventListener("abort", unsubscribe, { once: true });
  void look();
  return promise;
}

/** Nothing that it does now is what the last process died of. */
function hasGotOn(deps: Deps, since: Head, { version, state }: Head): boolean {
  if (version === since.version) return false;
  const { turn, recoveries, resumePending } = state;
  if (!turn || recoveries === 0 || resumePending) return true;
  return turnStatus(state) === "waiting_for_input" || (turn.retry?.at ?? 0) > deps.clock.now();
}

function nameOf({ tenant, sessionId }: Head): string {
  return `${tenant}#${sessionId}`;
}
