import pc from "picocolors";
import { describe, expect, it } from "vitest";
import type { SessionItem } from "../../lib/cli/follow-session.ts";
import type { Output } from "../../lib/cli/output.ts";
import { oneLine, printable } from "../../lib/cli/output.ts";
import { createTurnPrinter, type TurnEnd } from "../../lib/cli/turn-printer.ts";
import type { EventView } from "../../lib/sessions/event-view.ts";

let version = 0;
function event(type: EventView["type"], data: EventView["data"], turn = 1): SessionItem {
  return { kind: "event", event: { version: ++version, turn, step: 1, type, at: "2026-05-05T14:30:22.000Z", data } };
}
const text = (delta: string): SessionItem => ({ kind: "text", text: delta });
const replied = (whole: string): SessionItem =>
  event("model.replied", { content: [{ type: "text", text: whole }], calls: [] });
const finished = (answer: string): SessionItem =>
  event("turn.finished", { status: "completed", endReason: "completed", answer });

/** What a terminal would show. */
function show(items: SessionItem[], options: { joining?: boolean } = {}): { screen: string; end: TurnEnd | null } {
  version = 0;
  let screen = "";
  const output: Output = {
    json: false,
    terminal: true,
    paint: pc.createColors(false),
    line: (line = "") => {
      screen += `${line}\n`;
    },
    value: () => {},
    write: (part) => {
      screen += part;
    },
    note: (note) => {
      screen += `(${note})\n`;
    },
    error: () => {},
  };
  const printer = createTurnPrinter(output, 1, options.joining);
  let end: TurnEnd | null = null;
  for (const item of items) end = printer.show(item) ?? end;
  return { screen, end };
}

describe("a turn on a terminal", () => {
  it("shows text as it comes, and neither the reply nor the answer again", () => {
    const { screen, end } = show([text("Cle"), text("an."), replied("Clean."), finished("Clean.")]);
    expect(screen).toBe("Clean.\n");
    expect(end).toEqual({ status: "completed", endReason: "completed", answer: "Clean.", version: 2 });
  });

  it("completes text of which the end was missed", () => {
    expect(show([text("Cle"), replied("Clean."), finished("Clean.")]).screen).toBe("Clean.\n");
  });

  it("shows the whole reply when another text had begun (H43)", () => {
    const failed = event("model.failed", { error: { code: "model.stream_cut" }, retryAt: "2026-05-05T14:30:23.000Z" });
    expect(show([text("Dir"), failed, text("Clean."), replied("Clean."), finished("Clean.")]).screen).toBe(
      "Dir\nv1   ! the model did not answer (model.stream_cut); trying again\nClean.\n",
    );
    expect(show([text("Dir"), replied("Clean.")]).screen).toBe("Dir\nClean.\n");
  });

  it("shows no half reply after a reconnect, but the next one as it comes", () => {
    const { screen } = show([
      text("Cle"),
      { kind: "reconnected" },
      text("half"),
      replied("Clean."),
      { kind: "live" },
      text("f of it"),
      replied("Half of it."),
      text("New."),
      replied("New."),
    ]);
    expect(screen).toBe("Cle\nClean.\nHalf of it.\nNew.\n");
    expect(show([text("lf"), { kind: "live" }, text("x"), replied("Half.")], { joining: true }).screen).toBe("Half.\n");
  });

  it("passes over earlier turns", () => {
    expect(show([event("turn.finished", { status: "completed", endReason: "completed", answer: "old" }, 0)])).toEqual({
      screen: "",
      end: null,
    });
  });

  it("says what a failed turn ended with", () => {
    const { screen, end } = show([event("turn.failed", { endReason: "error", answer: "It failed." })]);
    expect([screen, end?.status]).toEqual(["It failed.\n", "error"]);
  });

  it("lets no control sequence through, wherever it stands", () => {
    const evil = "\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009b31m\u202eevil";
    const { screen } = show([
      text(evil),
      replied(evil),
      event("model.replied", {
        content: [{ type: "call", name: evil, input: { [evil]: evil } }],
        calls: [{ tool: evil, refused: evil }],
      }),
      event("call.finished", { tool: evil, outcome: { status: "failed", error: { message: evil } } }),
      event("approval.requested", { tool: evil, approvers: [evil], approvalId: evil }),
      event("flow.advanced", { name: evil }),
      event("stop.requested", { reason: evil }),
      { kind: "progress", tool: evil, message: evil },
      finished(evil),
    ]);
    expect(screen).not.toMatch(/(?!\n)[\p{Cc}\u202a-\u202e]/u);
    expect(screen).toContain("evil");
  });
});

describe("printable text", () => {
  it("keeps the letters of every language, line ends and tabs", () => {
    const kept = "Zoë 陈伟 محمد 😀\n\tÜber";
    expect(printable(kept)).toBe(kept);
  });

  it("makes one line of any, and cuts it between characters", () => {
    expect(oneLine(" a\n\n b\t c ")).toBe("a b c");
    expect(oneLine("😀😀😀😀", 3)).toBe("😀😀…");
  });
});
