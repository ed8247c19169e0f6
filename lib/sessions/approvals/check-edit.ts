// Arguments as an approver changed them: valid for the tool as it is now, canonical, and with the hash that the
// person must have seen before they count.
import { type Approval, approvalHash } from "../../core/approval.ts";
import type { FieldError } from "../../core/errors.ts";
import { type JsonObject, toJson } from "../../core/json.ts";
import type { Deps } from "../../steps/deps.ts";
import { canonical, sha256 } from "../../store/encoding.ts";

export type CheckedEdit = { input: string; inputHash: string };

/** The JSON Schema of the approval's tool; an empty one when the tool is gone. */
export function inputSchemaOf(deps: Pick<Deps, "agents">, approval: Approval): JsonObject {
  return toolOf(deps, approval)?.inputSchema ?? {};
}

export function checkEdit(
  deps: Pick<Deps, "agents">,
  approval: Approval,
  input: JsonObject,
): CheckedEdit | { errors: FieldError[] } {
  const tool = toolOf(deps, approval);
  if (!tool) return { errors: [{ path: "", message: `the tool ${approval.tool} is gone, so it cannot run at all` }] };
  const parsed = tool.input.safeParse(toJson(input, "the changed arguments"));
  if (!parsed.success) {
    return { errors: parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })) };
  }
  const text = canonical(input);
  return { input: text, inputHash: approvalHash({ ...approval, input: text }, sha256) };
}

function toolOf(deps: Pick<Deps, "agents">, approval: Approval) {
  return deps.agents.get(approval.agent ?? "")?.tools.find((tool) => tool.name === approval.tool);
}
