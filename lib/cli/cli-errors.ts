// What ends a command: each message says what to do. Told apart by the exit code they give.
import type { Problem } from "../api/problem.ts";

/** Exit code 2. */
export class WrongUse extends Error {
  override readonly name = "WrongUse";
}

/** The runtime answered with a problem. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(`${problem.detail} (${problem.code})`);
    this.problem = problem;
  }
}

/** Nobody answers there now. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

export class NoRuntime extends Error {
  override readonly name = "NoRuntime";
  constructor() {
    super("No runtime found: start one with npm start (or name one with --url and --token)");
  }
}
