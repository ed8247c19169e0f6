// One committed version of a session: the event that made it, and the snapshot after it.
import type { Event } from "./event.ts";
import type { SessionState } from "./state.ts";

export type Checkpoint = {
  tenant: string;
  sessionId: string;
  /** 1, 2, 3 … without gap or repeat. */
  version: number;
  /** Epoch milliseconds; information only, the order is the version. */
  at: number;
  /** Execution, step and attempt that wrote it: how an own write is told from another's. */
  writer: string;
  event: Event;
  state: SessionState;
  /** SHA-256 (hex) over the previous hash, the version, the time and the canonical event. */
  hash: string;
  prevHash: string;
};
