// Waiting for a turn to settle: woken by the live bus where there is one, else by looking again.
import type { EndReason } from "../core/event.ts";
import { turnStatus } from "../core/state.ts";
import type { Deps } from "../steps/deps.ts";
import { findMessage } from "./find-message.ts";

export type Settled = { status: "completed" | "error"; endReason: EndReason; answer: string; version: number };
/** With where it was: a waiting message moves on when its session is reset. */
export type SettledMessage = Settled & { sessionId: string; turn: number };

/** Between two looks without a bus. */
const lookAgainMs = 500;

/**
 * The end of the turn that has the message, whichever session and turn that becomes; null when it took too long, "asking"
 * at once when the turn waits for people, which no request outlasts.
 */
export async function waitForMessage(
  deps: Deps,
  tenant: string,
  at: { sessionId: string; messageId: string },
  waitMs: number,
  signal?: AbortSignal,
): Promise<SettledMessage | "asking" | null> {
  let place: { sessionId: string; turn: number } | null = null;
  return waitFor<SettledMessage | "asking">(deps, tenant, { waitMs, ...(signal ? { signal } : {}) }, async () => {
    let sessionId = at.sessionId;
    if (!place) {
      const found = await findMessage(deps, tenant, at.sessionId, at.messageId);
      sessionId = found?.head.sessionId ?? sessionId;
      if (found?.kind === "turn") place = { sessionId, turn: found.turn };
    }
    if (!place) return { sessionId, settled: null };
    const settled = await settledTurn(deps, tenant, place.sessionId, place.turn);
    if (settled) return { sessionId: place.sessionId, settled: { ...settled, ...place } };
    return { sessionId: place.sessionId, settled: (await isAsking(deps, tenant, place)) ? "asking" : null };
  });
}

/** Looks until there is an answer, after every version of the session that was looked at last. */
async function waitFor<T>(
  deps: Deps,
  tenant: string,
  options: { waitMs: number; signal?: AbortSignal },
  look: () => Promise<{ sessionId: string; settled: T | null }>,
): Promise<T | null> {
  const { waitMs, signal } = options;
  const until = deps.clock.now() + waitMs;
  let wake = () => {};
  let watched = "";
  let unsubscribe = () => {};
  try {
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const { sessionId, settled } = await look();
      if (settled) return settled;
      const left = until - deps.clock.now();
      if (left <= 0 || signal?.aborted) return null;
      if (sessionId !== watched) {
        unsubscribe();
        unsubscribe = deps.live.subscribe(tenant, sessionId, (message) => {
          if (message.kind === "version") wake();
        });
        watched = sessionId;
        // What was committed between the look and the subscription.
        continue;
      }
      const timer = new AbortController();
      const either = signal ? AbortSignal.any([signal, timer.signal]) : timer.signal;
      await Promise.race([woken, deps.clock.sleep(Math.min(left, lookAgainMs), either).catch(() => {})]);
      timer.abort();
    }
  } finally {
    unsubscribe();
  }
}

async function isAsking(deps: Deps, tenant: string, at: { sessionId: string; turn: number }): Promise<boolean> {
  const head = await deps.store.log.head(tenant, at.sessionId);
  return head?.state.turn?.turn === at.turn && turnStatus(head.state) === "waiting_for_input";
}

/** How the turn ended; null while it has not. */
export async function settledTurn(
  deps: Deps,
  tenant: string,
  sessionId: string,
  turn: number,
): Promise<Settled | null> {
  const head = await deps.store.log.head(tenant, sessionId);
  if (!head || head.state.turns < turn || head.state.turn?.turn === turn) return null;
  const last = head.state.lastTurn;
  if (last?.turn === turn) return read(deps, tenant, sessionId, last.version);
  let rolledBack: Settled | null = null;
  for await (const { event, version } of deps.store.log.lineage(tenant, sessionId, head.version)) {
    if ((event.type === "turn.finished" || event.type === "turn.failed") && event.turn === turn) {
      return read(deps, tenant, sessionId, version);
    }
    if (event.type === "rolled.back") {
      rolledBack ??= { status: "error", endReason: "rolled_back", answer: "This turn was rolled back.", version };
    }
    if (event.type === "turn.started" && event.turn <= turn) break;
  }
  return rolledBack;
}

async function read(deps: Deps, tenant: string, sessionId: string, version: number): Promise<Settled | null> {
  const found = await deps.store.log.at(tenant, sessionId, version);
  if (found?.event.type !== "turn.finished" && found?.event.type !== "turn.failed") return null;
  const { endReason, answer } = found.event;
  const status = found.event.type === "turn.finished" ? found.event.status : "error";
  return { status, endReason, answer, version };
}
