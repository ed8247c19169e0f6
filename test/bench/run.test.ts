// The benchmark runs as a user runs it, with sessions so short that its figures mean nothing and its table is whole.
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { Figure } from "../../bench/context.ts";
import { dynamoBytes, measureTable } from "../../bench/measuring-table.ts";
import { peers } from "../../bench/peers.ts";
import { printTable, type Report } from "../../bench/print-table.ts";
import { rows } from "../../bench/rows.ts";
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
  it("measures every row and judges every target", { timeout: 300_000 }, async () => {
    const { code, out, err } = await bench("--rounds", "12", "--json");
    const report = JSON.parse(out) as Report;
    expect({ code, failed: report.failed }, err).toEqual({ code: 0, failed: [] });
    expect(new Set(report.figures.map(({ row }) => row))).toEqual(new Set(rows.map(({ name }) => name)));
    expect(report.figures.filter(({ value }) => !Number.isFinite(value))).toEqual([]);
    // One length of session says nothing about growth; all else has been measured.
    const open = report.targets.filter(({ measured }) => measured === null).map(({ target }) => target);
    expect(open).toEqual(
      report.targets.filter(({ target }) => target.includes("longest / shortest")).map(({ target }) => target),
    );
    const table = printTable(report);
    for (const { name } of [...report.figures, ...peers]) expect(table).toContain(name);
    for (const { target } of report.targets) expect(table).toContain(target);
  });

  it("runs only the rows that were asked for", async () => {
    const { code, out } = await bench("--rounds", "10", "--only", "interpreter", "--json");
    const report = JSON.parse(out) as Report;
    expect({ code, rows: [...new Set(report.figures.map(({ row }) => row))] }).toEqual({
      code: 0,
      rows: ["interpreter"],
    });
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
