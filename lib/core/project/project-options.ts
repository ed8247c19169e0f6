// What an author says about project mode, checked when the agent is defined.
import * as z from "zod";
import { check, type Tool } from "../define-tool.ts";
import { InvalidDefinition } from "../errors.ts";

export type ProjectOptions = {
  /**
   * Names of the tools that may prove a feature. Each has effect "read", answers when the feature works and throws when
   * it does not.
   */
  checks: string[];
  /**
   * Name of the tool that records finished work (a commit). A feature then passes only after a call of it that came
   * after the check. @default none
   */
  commit?: string;
  /** Turns in a row without a verified feature before the project is blocked. @default 3 */
  attempts?: number;
};

/** Checked, with defaults. */
export type ProjectRules = { readonly checks: readonly string[]; readonly commit?: string; readonly attempts: number };

const projectOptions = z.strictObject({
  checks: z.array(z.string().min(1)).min(1, "name at least one tool that proves a feature"),
  commit: z.string().min(1).optional(),
  attempts: z.int().min(1).max(100).default(3),
});

type Given = {
  name: string;
  mode: "chat" | "project";
  project?: unknown;
  tools: readonly Tool[];
  context: string;
};

/** Undefined for an agent that chats. Throws `InvalidDefinition`. */
export function projectRules({ name, mode, project, tools, context }: Given): ProjectRules | undefined {
  const what = `agent "${name}".project`;
  if (mode === "chat") {
    if (project === undefined) return undefined;
    throw new InvalidDefinition(`${what}: is for mode "project"; set the mode or remove it`);
  }
  const { checks, commit, attempts } = check(projectOptions, project ?? {}, what);
  if (context === "full-replay" || context === "sliding-window") {
    throw new InvalidDefinition(
      `agent "${name}".context: "${context}" does not show the handoff record that a project lives by; use "auto", "checkpoint" or "compaction"`,
    );
  }
  for (const checkName of checks) {
    const tool = toolNamed(tools, checkName, `${what}.checks`);
    if (tool.effect !== "read") {
      throw new InvalidDefinition(`${what}.checks: "${checkName}" has effect "${tool.effect}"; a check only reads`);
    }
  }
  if (commit !== undefined && toolNamed(tools, commit, `${what}.commit`).effect === "read") {
    throw new InvalidDefinition(`${what}.commit: "${commit}" has effect "read"; it must store something`);
  }
  return Object.freeze({ checks: Object.freeze(checks), attempts, ...(commit === undefined ? {} : { commit }) });
}

function toolNamed(tools: readonly Tool[], name: string, field: string): Tool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool) return tool;
  throw new InvalidDefinition(`${field}: the agent has no tool "${name}"`);
}
