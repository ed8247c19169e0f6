// What package.json promises to whoever imports the package by its name, and to whoever runs its command.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const pkg = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

describe("the package", () => {
  it("gives authors what they define agents with", async () => {
    const { defineAgent, defineFlow, defineTool, step, OutcomeUnknown } = await import("baton");
    expect([defineAgent, defineFlow, defineTool, step, OutcomeUnknown].map((value) => typeof value)).toEqual(
      Array(5).fill("function"),
    );
  });

  it("gives their tests what contract.md names", async () => {
    const testing = await import("baton/testing");
    const names = ["scriptedModel", "fakeClock", "crashAt", "runToEnd", "allCrashPoints"];
    expect(names.filter((name) => typeof Reflect.get(testing, name) !== "function")).toEqual([]);
  });

  it("gives CDK apps the Agent construct", async () => {
    const { Agent } = await import("baton/cdk");
    expect(typeof Agent).toBe("function");
  });

  it("exports nothing besides", () => {
    expect(Object.keys(pkg.exports)).toEqual([".", "./testing", "./cdk"]);
  });

  it("has a command that can be executed and says what it does", () => {
    const bin = join(root, pkg.bin.baton);
    expect(statSync(bin).mode & 0o111).toBe(0o111);
    const path = `${join(root, "node_modules/.bin")}:${process.env.PATH}`;
    const help = execFileSync(bin, ["--help"], { encoding: "utf8", env: { ...process.env, PATH: path } });
    expect(help).toContain("Usage: baton");
  });
});
