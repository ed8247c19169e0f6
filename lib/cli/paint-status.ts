// One colour for each kind of status, everywhere.
import type { Output } from "./output.ts";

/** `text` in the colour of `status`: of a session, a turn or a step. */
export function paintStatus(paint: Output["paint"], status: string, text = status): string {
  switch (status) {
    case "completed":
    case "success":
      return paint.green(text);
    case "running":
    case "executing":
    case "processing":
      return paint.cyan(text);
    case "paused":
    case "waiting_for_input":
    case "suspended":
    case "cancelled":
      return paint.yellow(text);
    case "failed":
    case "error":
      return paint.red(text);
    default:
      return paint.dim(text);
  }
}
