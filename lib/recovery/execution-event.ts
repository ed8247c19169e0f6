// The status change of an execution as EventBridge tells it (Step Functions developer guide, "Automating Step Functions
// event delivery with EventBridge").
import * as z from "zod";
import { InvalidInput } from "../core/errors.ts";
import { sessionIdPattern, tenantPattern } from "../core/ids.ts";
import type { EndedExecution } from "./after-execution.ts";

const event = z.object({
  id: z.string().min(1),
  detail: z.object({
    name: z.string().min(1),
    status: z.enum(["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]),
    input: z.string(),
  }),
});
const input = z.object({ tenant: z.string().regex(tenantPattern), sessionId: z.string().regex(sessionIdPattern) });

/** Throws `InvalidInput` for what is no such event, or of an execution that is not ours. */
export function readExecutionEvent(value: unknown): EndedExecution {
  const found = event.safeParse(value);
  const given = found.success ? input.safeParse(parse(found.data.detail.input)) : null;
  if (!found.success || !given?.success) throw new InvalidInput("not a status change of an execution of this machine");
  const { id, detail } = found.data;
  return { ...given.data, execution: detail.name, status: detail.status, eventId: id };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
