// What travels from state to state stays small. Step Functions ends an execution at 256 KiB without letting any
// state catch it (States.DataLimitExceeded), so a step that is far below it, but not small, fails by name instead.
import { ItemTooLarge } from "../core/errors.ts";

export const maxPayloadBytes = 16 * 1024;

/** Answers `output`, or throws `ItemTooLarge` when its JSON has more than 16 KB in UTF-8. */
export function smallPayload<T>(step: string, output: T): T {
  const bytes = new TextEncoder().encode(JSON.stringify(output) ?? "null").length;
  if (bytes > maxPayloadBytes) {
    throw new ItemTooLarge(
      `${step}: ${bytes} bytes for the state machine, at most ${maxPayloadBytes}; content travels by reference`,
    );
  }
  return output;
}
