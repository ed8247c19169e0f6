// From one sentence to a small static site. Planned by one role, built by another, one feature a turn, each proven by a
// real check and kept as one commit; the runtime goes on by itself until all features pass.
import { defineAgent } from "baton";
import { commitFeature } from "./commit-feature.ts";
import { gitLog, readFile, writeFile } from "./files.ts";
import { restoreWorkspace } from "./restore-workspace.ts";
import { runCheck } from "./run-check.ts";

export default defineAgent({
  name: "project-builder",
  instructions: `You build a small static web site in a folder under git: index.html, style.css, data.json, data.html, with relative
links and no scripts. The tools are all that you have; nothing that you write is executed.
Whoever plans leaves init.sh (how to look at the site), progress.md (one line for each feature) and a first commit
(commit_feature with feature "plan"), and gives each feature one check of run_check as checkInput {"name": …}.
Whoever builds reads progress.md first, and ticks off the feature's line in it before the check.
When the session was rolled back, the folder was not: use git_log and restore_workspace to bring it to the last feature that passes.`,
  model: {
    id: "claude-sonnet-5-5",
    maxTokens: 8192,
    planner: "claude-opus-5",
    worker: "claude-sonnet-5-5",
    summarizer: "claude-haiku-4-5",
  },
  mode: "project",
  project: { checks: ["run_check"], commit: "commit_feature", attempts: 3 },
  tools: [readFile, writeFile, gitLog, runCheck, commitFeature, restoreWorkspace],
  limits: { roundsPerTurn: 40, usdPerSession: 10 },
});
