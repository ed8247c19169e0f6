// What an execution is told by whoever starts it to take a turn over: why, and from whom. Several may find the same turn
// ownerless at once (an event, the sweeper, a message); the first of their executions takes it, the others leave it be.
import type { ResumeCause } from "../core/event.ts";

/** The input `cause` of the execution. `owner`: who owned the turn when it was found. */
export function takeOverCause(cause: ResumeCause, owner: string): string {
  return `${cause} ${owner}`;
}

/** `owner` is absent when nothing was said of it. */
export function readTakeOver(text: string): { cause: ResumeCause; owner?: string } {
  const [cause = "", owner] = text.split(" ");
  return { cause: cause as ResumeCause, ...(owner === undefined ? {} : { owner }) };
}
