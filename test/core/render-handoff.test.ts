import { describe, expect, it } from "vitest";
import { emptyHandoff, type HandoffRecord } from "../../lib/core/handoff.ts";
import { detectLanguage, renderHandoff } from "../../lib/core/render-handoff.ts";

const record: HandoffRecord = {
  goal: "File the report",
  done: ["fetched 14 transfers"],
  inProgress: { item: "narrative", note: "half written" },
  next: "submit",
  decisions: [{ what: "no freeze", why: "amounts are small", atTurn: 2 }],
  sideEffects: [{ action: "mail", target: '{"to":"bob"}', atTurn: 1, status: "in_doubt" }],
  resources: ["case-7"],
  constraints: ["never mail customers"],
  blocked: ["waits for compliance"],
};

describe("renderHandoff", () => {
  it("writes every section in English", () => {
    expect(renderHandoff(record, "en").split("\n")).toEqual([
      "# Session resumed",
      "Task:",
      "- File the report",
      "Standing constraints:",
      "- never mail customers",
      "Done:",
      "- fetched 14 transfers",
      "In progress:",
      "- narrative (half written)",
      "Next step:",
      "- submit",
      "Already executed, do not repeat:",
      '- mail {"to":"bob"} — outcome unknown, verify first [turn 1]',
      "Decisions:",
      "- no freeze (because: amounts are small) [turn 2]",
      "Resources:",
      "- case-7",
      "Blocked:",
      "- waits for compliance",
    ]);
  });

  it("writes every section in Chinese", () => {
    const text = renderHandoff(record, "zh-CN");
    for (const part of [
      "# 会话恢复",
      "任务:",
      "长期约束:",
      "已完成:",
      "进行中:",
      "下一步:",
      "已执行，请勿重复:",
      "第 1 轮",
    ]) {
      expect(text).toContain(part);
    }
    expect(text.split("\n")).toHaveLength(19);
  });

  it("leaves out what is empty and shows features with their state", () => {
    const feature = { id: "f1", category: "c", description: "a page", steps: [], check: "t", passes: true };
    const features = [feature, { ...feature, id: "f2", passes: false }];
    expect(renderHandoff({ ...emptyHandoff, features }, "en")).toBe(
      "# Session resumed\nFeatures:\n- [x] f1: a page (passes)\n- [ ] f2: a page (open)",
    );
  });
});

describe("detectLanguage", () => {
  it("tells Chinese from everything else", () => {
    const texts = [
      "请调查客户 C-1042 的交易",
      "Investigate customer C-1042",
      "お客様を調査してください 顧客",
      "고객을 조사",
      "",
      "The name 王 is on the list",
    ];
    expect(texts.map(detectLanguage)).toEqual(["zh", "en", "en", "en", "en", "en"]);
  });
});
