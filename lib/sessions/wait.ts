// Waiting for a turn to settle: woken by the live bus where there is one, else by looking again.
import type { EndReason } from "../core/event.ts";
import type { Deps } from "../steps/deps.ts";

export type Settled = { status: "completed" | "error"; endReason: EndReason; answer: string; version: number };

/** Between two looks without a bus. */
const lookAgainMs = 500;

/** The turn's end, or null when it did not settle within `waitMs`. */
export async function waitForTurn(
  deps: Deps,
  tenant: string,
  sessionId: string,
  turn: number,
  waitMs: number,
  signal?: AbortSignal,
): Promise<Settled | null> {
  const until = deps.clock.now() + waitMs;
  let wake = () => {};
  const unsubscribe = deps.live.subscribe(tenant, sessionId, (message) => {
    if (message.kind === "version") wake();
  });
  try {
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const settled = await settledTurn(deps, tenant, sessionId, turn);
      if (settled) return settled;
      const left = until - deps.clock.now();
      if (left <= 0 || signal?.aborted) return null;
      const timer = new AbortController();
      const either = signal ? AbortSignal.any([signal, timer.signal]) : timer.signal;
      await Promise.race([woken, deps.clock.sleep(Math.min(left, lookAgainMs), either).catch(() => {})]);
      timer.abort();
    }
  } finally {
    unsubscribe();
  }
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
  for await (const { event, version } of deps.store.log.lineage(tenant, sessionId, head.version)) {
    if ((event.type === "turn.finished" || event.type === "turn.failed") && event.turn === turn) {
      return read(deps, tenant, sessionId, version);
    }
  }
  return null;
}

async function read(deps: Deps, tenant: string, sessionId: string, version: number): Promise<Settled | null> {
  const found = await deps.store.log.at(tenant, sessionId, version);
  if (found?.event.type !== "turn.finished" && found?.event.type !== "turn.failed") return null;
  const { endReason, answer } = found.event;
  const status = found.event.type === "turn.finished" ? found.event.status : "error";
  return { status, endReason, answer, version };
}
