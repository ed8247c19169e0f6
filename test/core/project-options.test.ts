import { defineAgent, defineTool } from "baton";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { inRole } from "../../lib/core/project/in-role.ts";
import type { ProjectRole } from "../../lib/core/project.ts";
import { newSite, projectAgent } from "../support/project-agent.ts";

const input = z.object({});
const look = defineTool({ name: "look", description: "looks", input, effect: "read", run: () => 1 });
const put = defineTool({ name: "put", description: "puts", input, effect: "once", run: () => 1 });
const base = { name: "p", instructions: "i", model: { id: "m" }, tools: [look, put] };

describe("mode project", () => {
  it("has its rules with defaults, and keeps its session until told otherwise", () => {
    const agent = defineAgent({ ...base, mode: "project", project: { checks: ["look"] } });
    expect(agent.project).toEqual({ checks: ["look"], attempts: 3 });
    expect(agent.session.reset).toBe("off");
    const daily = defineAgent({ ...base, mode: "project", project: { checks: ["look"] }, session: { reset: "daily" } });
    expect(daily.session.reset).toBe("daily");
    expect(defineAgent(base).project).toBeUndefined();
    expect(defineAgent(base).session.reset).toBe("idle");
  });

  const wrong: [string, object, RegExp][] = [
    ["rules in chat mode", { project: { checks: ["look"] } }, /project: is for mode "project"/],
    ["no rules", { mode: "project" }, /project\.checks/],
    ["no checks", { mode: "project", project: { checks: [] } }, /name at least one tool/],
    ["an unknown check", { mode: "project", project: { checks: ["nope"] } }, /no tool "nope"/],
    ["a check that changes something", { mode: "project", project: { checks: ["put"] } }, /a check only reads/],
    ["a commit that stores nothing", { mode: "project", project: { checks: ["look"], commit: "look" } }, /must store/],
    ["an unknown option", { mode: "project", project: { checks: ["look"], tests: [] } }, /tests/],
    [
      "a strategy without the record",
      { mode: "project", project: { checks: ["look"] }, context: "sliding-window" },
      /"sliding-window" does not show/,
    ],
  ];
  it.each(wrong)("refuses %s when the agent is defined", (_name, options, message) => {
    expect(() => defineAgent({ ...base, ...options } as never)).toThrow(message);
  });

  it("reserves the names of its tools", () => {
    const taken = defineTool({ name: "complete_feature", description: "x", input, effect: "read", run: () => 1 });
    expect(() => defineAgent({ ...base, tools: [taken] })).toThrow(/name of a built-in tool/);
  });

  it("gives each role its model and its instructions, after the author's", () => {
    const agent = projectAgent(newSite());
    const as = (role: ProjectRole) => inRole(agent, { turn: { project: { role, attempt: 1, attempts: 2 } } as never });
    expect(as("initializer").model.id).toBe("m-planner");
    expect(as("worker").model.id).toBe("m-worker");
    expect(as("talk").model.id).toBe("m-planner");
    for (const role of ["initializer", "worker", "talk"] as const) {
      expect(as(role).instructions.startsWith("Build what is asked.\n\n")).toBe(true);
    }
    expect(inRole(agent, { turn: null })).toBe(agent);
  });
});
