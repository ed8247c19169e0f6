// The frozen `ctx` that a tool's code gets.
import type { ToolContext } from "../core/define-tool.ts";
import { idempotencyKey } from "../core/ids.ts";
import type { SessionState } from "../core/state.ts";
import type { Deps } from "./deps.ts";

export type CallPlace = { turn: number; round: number; index: number; tool: string };

/** `signal`: a function makes it when the tool first asks for it, since a combined one is costly. */
export function toolContext(
  deps: Deps,
  state: SessionState,
  place: CallPlace,
  signal: AbortSignal | (() => AbortSignal),
): ToolContext {
  let made = typeof signal === "function" ? undefined : signal;
  const { tenant, sessionId, user, key } = state;
  return Object.freeze({
    tenant,
    user,
    key,
    sessionId,
    turn: place.turn,
    round: place.round,
    idempotencyKey: idempotencyKey({ tenant, sessionId, turn: place.turn, round: place.round, index: place.index }),
    get signal() {
      made ??= typeof signal === "function" ? signal() : signal;
      return made;
    },
    log: (message: string, fields: Record<string, string | number | boolean> = {}) =>
      deps.log.info(message, { ...fields, tenant, sessionId, tool: place.tool }),
    progress: (message: string) =>
      deps.live.publish(tenant, sessionId, {
        kind: "progress",
        tool: place.tool,
        message: String(message).slice(0, 500),
      }),
  });
}
