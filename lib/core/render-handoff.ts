// The handoff record as text for the next shift, in the language of the session.
import type { HandoffRecord } from "./handoff.ts";

const words = {
  en: {
    title: "Session resumed",
    goal: "Task",
    done: "Done",
    inProgress: "In progress",
    next: "Next step",
    decisions: "Decisions",
    sideEffects: "Already executed, do not repeat",
    resources: "Resources",
    constraints: "Standing constraints",
    blocked: "Blocked",
    features: "Features",
    turn: (turn: number) => `turn ${turn}`,
    because: "because",
    status: { done: "done", failed: "failed", in_doubt: "outcome unknown, verify first" },
    passes: "passes",
    open: "open",
  },
  zh: {
    title: "会话恢复",
    goal: "任务",
    done: "已完成",
    inProgress: "进行中",
    next: "下一步",
    decisions: "已做决定",
    sideEffects: "已执行，请勿重复",
    resources: "资源",
    constraints: "长期约束",
    blocked: "受阻",
    features: "功能清单",
    turn: (turn: number) => `第 ${turn} 轮`,
    because: "原因",
    status: { done: "已完成", failed: "失败", in_doubt: "结果未知，请先核实" },
    passes: "已通过",
    open: "未完成",
  },
} as const;

/** Markdown-like text; sections without content are left out. `language`: "zh…" is Chinese, all else English. */
export function renderHandoff(record: HandoffRecord, language: string): string {
  const w = language.toLowerCase().startsWith("zh") ? words.zh : words.en;
  const inProgress = record.inProgress
    ? [record.inProgress.item + (record.inProgress.note ? ` (${record.inProgress.note})` : "")]
    : [];
  const decisions = record.decisions.map(
    ({ what, why, atTurn }) => `${what}${why ? ` (${w.because}: ${why})` : ""} [${w.turn(atTurn)}]`,
  );
  const effects = record.sideEffects.map(
    ({ action, target, atTurn, status }) => `${action} ${target} — ${w.status[status]} [${w.turn(atTurn)}]`,
  );
  const features = (record.features ?? []).map(
    ({ id, description, passes }) => `[${passes ? "x" : " "}] ${id}: ${description} (${passes ? w.passes : w.open})`,
  );
  return [
    `# ${w.title}`,
    ...section(w.goal, record.goal ? [record.goal] : []),
    ...section(w.constraints, record.constraints),
    ...section(w.done, record.done),
    ...section(w.inProgress, inProgress),
    ...section(w.next, record.next ? [record.next] : []),
    ...section(w.sideEffects, effects),
    ...section(w.decisions, decisions),
    ...section(w.resources, record.resources),
    ...section(w.blocked, record.blocked),
    ...section(w.features, features),
  ].join("\n");
}

/** "zh" when a good part of the letters are Han and none are kana or Hangul, else "en". */
export function detectLanguage(text: string): "en" | "zh" {
  const sample = text.slice(0, 2000);
  const han = sample.match(/\p{Script=Han}/gu)?.length ?? 0;
  if (han === 0 || /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(sample)) return "en";
  // A Han character says about as much as a short word, so words are what it is compared with.
  const others = sample.match(/[\p{L}--\p{Script=Han}]+/gv)?.length ?? 0;
  return han >= others ? "zh" : "en";
}

function section(title: string, entries: readonly string[]): string[] {
  return entries.length === 0 ? [] : [`${title}:`, ...entries.map((entry) => `- ${entry}`)];
}
