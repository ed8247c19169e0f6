// Whoever runs the state machine: Step Functions, or the embedded interpreter.

export type ExecutionInput = {
  tenant: string;
  sessionId: string;
  turn: number;
  segment: number;
  /** Why this execution may take a turn over, and from whom (steps/take-over.ts); "" for a plain start. */
  cause: string;
};

export interface Orchestrator {
  /**
   * Starts an execution. "exists": one of that name runs or has run already, and nothing was started.
   * May be called twice with the same name. Throws OrchestratorUnavailable.
   */
  start(name: string, input: ExecutionInput): Promise<"started" | "exists">;
  /** Is an execution of this name running now? Used to tell ownerless turns; never to decide a write. */
  isRunning(name: string): Promise<boolean>;
  /**
   * Releases a callback task. "gone": the token is used, timed out or its execution is over; the caller's own
   * record says what that means. May be called twice.
   */
  release(taskToken: string, output: Record<string, never> | { approvalId: string }): Promise<"released" | "gone">;
}
