// The report as people read it: plain aligned text, no colours, so that it can go into a file.
import type { Figure } from "./context.ts";
import { peers } from "./peers.ts";
import type { Verdict } from "./targets.ts";

export type Report = {
  at: string;
  machine: Record<string, string | number>;
  figures: Figure[];
  targets: Verdict[];
  failed: { row: string; message: string }[];
};

export function printTable(report: Report): string {
  const lengths = [...new Set(report.figures.flatMap(({ rounds }) => rounds ?? []))].sort((a, b) => a - b);
  const names = [...new Set(report.figures.filter(({ rounds }) => rounds !== undefined).map(({ name }) => name))];
  const valueAt = (name: string, length: number) =>
    report.figures.find((figure) => figure.name === name && figure.rounds === length)?.value;
  const unitOf = (name: string) => report.figures.find((figure) => figure.name === name)?.unit ?? "";
  const sections = [
    `Baton benchmark, ${report.at}\n${Object.entries(report.machine)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")}`,
    section("By length of the session (rounds)", [
      ["", ...lengths.map((length) => `N = ${number(length)}`), ""],
      ...names.map((name) => [name, ...lengths.map((length) => number(valueAt(name, length))), unitOf(name)]),
    ]),
    section(
      "Once",
      report.figures
        .filter(({ rounds }) => rounds === undefined)
        .map(({ name, value, unit, note }) => [name, number(value), unit, note ?? ""]),
    ),
    section(
      "Targets",
      report.targets.map(({ target, measured, limit, unit, reached }) => [
        reached === null ? "not measured" : reached ? "reached" : "NOT REACHED",
        target,
        number(measured ?? undefined),
        `at most ${number(limit)} ${unit}`,
      ]),
    ),
    section(
      "Others on this workload and machine class, as quoted in the design; not measured here",
      peers.map(({ name, msPerRound, note }) => [name, `${msPerRound} ms per round`, note]),
    ),
    section(
      "Failed",
      report.failed.map(({ row, message }) => [row, headline(message)]),
    ),
  ];
  return `${sections.filter((text) => text !== "").join("\n\n")}\n`;
}

function section(title: string, cells: string[][]): string {
  if (cells.length === 0 || (cells.length === 1 && cells[0]?.[0] === "")) return "";
  const columns = Math.max(...cells.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  const numeric = (text: string) => /^([\d.,]+|–|N = .*)$/.test(text);
  const lines = cells.map((row) =>
    row
      .map((text, i) => (numeric(text) ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  return [title, ...lines.map((line) => `  ${line}`)].join("\n");
}

/** The line with the error of a process that ended with a stack; all of it stands in the JSON. */
function headline(message: string): string {
  return /^\w+: .*$/m.exec(message)?.[0] ?? message.split("\n")[0] ?? "";
}

/** Three digits that matter; whole from a hundred on. */
function number(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return "–";
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}
