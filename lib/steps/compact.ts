// placeholder until compaction is wired in (this session)
import type { Deps } from "./deps.ts";
import type { StepInput } from "./io.ts";

export async function compact(_deps: Deps, _input: StepInput): Promise<Record<string, never>> {
  throw new Error("compaction is not wired yet");
}
