// The benchmark runs as a user runs it, with sessions so short that its figures mean nothing, and only the rows that take
// seconds; what the others would say is judged and printed from given figures.
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { Figure } from "../../bench/context.ts";
import { dynamoBytes, measureTable } from "../../bench/measuring-table.ts";
import { peers } from "../../bench/peers.ts";
import { printTable, type Report } from "../../bench/print-table.ts";
import { judge } from "../../bench/targets.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";

const root = resolve(import.meta.dirname, "../..");

async function bench(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [join(root, "bench/run.ts"), ...args], { cwd: root });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const code = await new Promise<number | null>((done) => child.once("close", done));
  return { code, out, err };
}

describe("npm run bench", () => {
  it("measures the rows that were asked for and judges their targets", { timeout: 120_000 }, async () => {
    const asked = ["rounds", "load", "resume", "units", "interpreter", "turns", "approval"];
    const { code, out, err } = await bench("--rounds", "10", "--json", "--only", ...asked);
    const report = JSON.parse(out) as Report;
    expect({ code, failed: report.failed }, err).toEqual({ code: 0, failed: [] });
    expect([...new Set(report.figures.map(({ row }) => row))]).toEqual(asked);
    expect(report.figures.filter(({ value }) => !Number.isFinite(value))).toEqual([]);
    // One length of session says nothing about growth; all else of these rows has been measured.
    const measured = report.targets.filter(({ measured }) => measured !== null).map(({ target }) => target);
    expect(measured).toEqual([
      "last tenth / first tenth of the longest session",
      "per round / floor of two synced writes, longest session",
      "memory of the longest session",
      "transitions of an approval, after 7 days / after 1 hour",
      "writes of an approval, after 7 days / after 1 hour",
      "mails of an approval, after 7 days / after 1 hour",
    ]);
    const table = printTable(report);
    for (const { name } of [...report.figures, ...peers]) expect(table).toContain(name);
    for (const { target } of report.targets) expect(table).toContain(target);
  });

  it.each([[["--fast"]], [["--rounds", "9"]], [["--rounds", "many"]], [["--only", "nothing"]], [["more"]]])(
    "refuses %j and shows its help",
    async (args) => {
      const { code, out, err } = await bench(...args);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toContain("Usage: npm run bench");
    },
  );
});

describe("judge", () => {
  const figure = (name: string, rounds: number, value: number): Figure => ({
    row: "rounds",
    name,
    rounds,
    value,
    unit: "",
  });
  const verdict = (figures: Figure[], start: string) => judge(figures).find(({ target }) => target.startsWith(start));

  it("compares the longest with the shortest session", () => {
    const name = "bytes written per round";
    const within = [figure(name, 100, 1000), figure(name, 1000, 2000), figure(name, 10_000, 1040)];
    expect(verdict(within, name)).toMatchObject({ measured: 1.04, reached: true });
    expect(verdict([figure(name, 100, 1000), figure(name, 10_000, 1060)], name)).toMatchObject({ reached: false });
    expect(verdict([figure(name, 100, 1000)], name)).toMatchObject({ measured: null, reached: null });
  });

  it("looks at the longest session where only that counts", () => {
    const memory = [figure("peak memory", 100, 500), figure("peak memory", 10_000, 400)];
    expect(verdict(memory, "memory of the longest")).toMatchObject({ measured: 400, limit: 400, reached: true });
    expect(verdict([figure("peak memory", 100, 401)], "memory of the longest")).toMatchObject({ reached: false });
  });

  it("takes figures that know no length", () => {
    const once = (name: string, value: number): Figure => ({ row: "start", name, value, unit: "" });
    const figures = [
      once("npm start to ready", 2001),
      ...["begin", "act", "finish", "think"].map((name) => once(`bundle ${name}`, 480)),
      once("approval after 7 d, writes", 24),
      once("approval after 1 h, writes", 24),
    ];
    const measured = judge(figures).filter(({ measured }) => measured !== null);
    expect(measured.map(({ target, reached }) => [target, reached])).toEqual([
      ["bundle of begin", true],
      ["bundle of act", true],
      ["bundle of finish", true],
      ["bundle of think", true],
      ["writes of an approval, after 7 days / after 1 hour", true],
      ["npm start to ready", false],
    ]);
  });
});

describe("printTable", () => {
  it("shows figures by length and once, what was reached, and what failed", () => {
    const report: Report = {
      at: "2026-11-30T12:00:00.000Z",
      machine: { node: "v24", cores: 2 },
      figures: [
        { row: "rounds", name: "per round, median", rounds: 100, value: 1.2345, unit: "ms" },
        { row: "rounds", name: "per round, median", rounds: 10_000, value: 1.5, unit: "ms" },
        { row: "load", name: "context", rounds: 10_000, value: 6543.2, unit: "tokens" },
        { row: "start", name: "npm start to ready", value: 812.6, unit: "ms", note: "median of 3" },
      ],
      targets: [
        { target: "one", measured: 1, limit: 1.05, unit: "x", reached: true },
        { target: "two", measured: 401, limit: 400, unit: "MB", reached: false },
        { target: "three", measured: null, limit: 2000, unit: "ms", reached: null },
      ],
      failed: [{ row: "many", message: "x.ts ended with 1: at line 3\nTypeError: no such thing\n    at run" }],
    };
    const lines = printTable(report)
      .split("\n")
      .map((line) => line.trim().split(/ {2,}/));
    expect(lines).toEqual(
      expect.arrayContaining([
        ["node v24, cores 2"],
        ["N = 100", "N = 10,000"],
        ["per round, median", "1.23", "1.5", "ms"],
        ["context", "–", "6,543", "tokens"],
        ["npm start to ready", "813", "ms", "median of 3"],
        ["reached", "one", "1", "at most 1.05 x"],
        ["NOT REACHED", "two", "401", "at most 400 MB"],
        ["not measured", "three", "–", "at most 2,000 ms"],
        ["many", "TypeError: no such thing"],
      ]),
    );
  });
});

describe("measureTable", () => {
  it("counts what DynamoDB would bill", async () => {
    const table = measureTable(createMemoryTable({ now: () => 0 }));
    const item = { pk: "t#1", sk: "V#1", text: "x".repeat(1500) };
    await table.put(item, { absent: true });
    await table.put(item, { absent: true });
    await table.get({ pk: "t#1", sk: "V#1" });
    await table.query({ pk: "t#none" });
    expect(table.units()).toEqual({ writes: 2, writtenBytes: 1514, writeUnits: 4, reads: 2, readUnits: 2 });
  });

  it("counts an index entry once while it stays, twice when it moves, and its end", async () => {
    const table = measureTable(createMemoryTable({ now: () => 0 }));
    const key = { pk: "t#1", sk: "STATUS" };
    const units = async (write: () => Promise<unknown>) => {
      const before = table.units().writeUnits;
      await write();
      return table.units().writeUnits - before;
    };
    expect([
      await units(() => table.put({ ...key, due: 5 })),
      await units(() => table.put({ ...key, due: 5, more: 1 })),
      await units(() => table.put({ ...key, due: 6 })),
      await units(() => table.update(key, { remove: ["due"] })),
      await units(() => table.remove(key)),
    ]).toEqual([2, 2, 3, 2, 1]);
  });

  it("counts a number as a byte for two digits and one more", () => {
    expect(dynamoBytes({ pk: "a", sk: "b", n: 123_45 })).toBe(6 + 1 + 3 + 1);
    expect(dynamoBytes({ pk: "a", sk: "b", n: 12_000 })).toBe(6 + 1 + 1 + 1);
  });
});
