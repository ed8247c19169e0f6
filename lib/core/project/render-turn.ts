// What the runtime writes to a turn that it starts itself, and what it adds to the answer of a project's turn.
import { fence, note } from "../context/fence.ts";
import type { EndReason } from "../event.ts";
import type { HandoffRecord } from "../handoff.ts";
import { afterTurn, type ProjectState, type ProjectTurn } from "../project.ts";

/** The message of a turn that nobody has written to. The feature's words are a model's, so they are quoted. */
export function renderTurn(record: HandoffRecord, turn: ProjectTurn): string {
  const attempt = `attempt ${turn.attempt} of ${turn.attempts}`;
  if (turn.role === "initializer") {
    return note(
      `There is no feature list yet (${attempt}). Call plan_features; if only the user can say what is missing, record it in "blocked" with update_progress.`,
    );
  }
  const features = record.features ?? [];
  const feature = features.find(({ id }) => id === turn.feature);
  const passing = features.filter(({ passes }) => passes).length;
  return [
    note(
      `Project: ${passing} of ${features.length} features pass. Build feature ${turn.feature} now, and only that one (${attempt}).`,
    ),
    fence(
      `feature ${turn.feature}, from the feature list`,
      feature
        ? [
            `id: ${feature.id}`,
            `category: ${feature.category}`,
            `description: ${feature.description}`,
            ...feature.steps.map((step, i) => `step ${i + 1}: ${step}`),
            `check: ${feature.check} ${feature.checkInput ?? "{}"}`,
          ].join("\n")
        : "",
    ),
  ].join("\n");
}

/** How the project stands once the turn ends by `reason`: one or two sentences for the user. */
export function renderStanding(project: ProjectState | undefined, turn: ProjectTurn, reason: EndReason): string {
  const after = afterTurn(project, turn, reason);
  const count = `${after.passing} of ${after.total} features pass`;
  switch (after.status) {
    case "passed":
      return `All ${after.total} features pass.`;
    case "halted":
      return `${count}. The work stands still; write again to go on.`;
    case "blocked":
      return `${after.total === 0 ? "There is no feature list" : `${count}. Feature ${after.next} is not verified`}. Blocked: ${
        turn.blocked ? "see the handoff record" : `no success in ${turn.attempts} attempts`
      }; write again to go on.`;
    case "working": {
      const again = after.attempts > 0 ? ` (attempt ${after.attempts + 1} of ${turn.attempts})` : "";
      if (after.total === 0) return `There is no feature list yet; the planning goes on${again}.`;
      return `${count}; the work goes on by itself with ${after.next}${again}.`;
    }
  }
}
