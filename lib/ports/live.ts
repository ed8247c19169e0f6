// What people watching a session see at once. Best effort: the log is the truth, this only saves waiting.

export type LiveMessage =
  | { kind: "text"; text: string }
  | { kind: "progress"; tool: string; message: string }
  /** A new version was committed. */
  | { kind: "version"; version: number };

export interface Live {
  publish(tenant: string, sessionId: string, message: LiveMessage): void;
  /** Calls back until the answer is called. A runtime without a bus (Lambda) never calls back. */
  subscribe(tenant: string, sessionId: string, listener: (message: LiveMessage) => void): () => void;
}
