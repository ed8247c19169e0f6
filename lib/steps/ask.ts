// placeholder until approvals are wired in (this session)
import type { Deps } from "./deps.ts";
import type { StepInput } from "./io.ts";

export async function ask(_deps: Deps, _input: StepInput): Promise<Record<string, never>> {
  throw new Error("approvals are not wired yet");
}
