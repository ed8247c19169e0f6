import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliFixture, cliFixture } from "./cli-fixture.ts";

let cli: CliFixture;
beforeAll(async () => {
  cli = await cliFixture();
});
afterAll(() => cli.close());

describe("baton usage", () => {
  it("prints the day by model and session, and as JSON what the API says", async () => {
    cli.model.push({ text: "Hello." });
    await cli.baton(["send", "hi", "--key", "usage \u001b[2J", "--wait"]).catch(() => {});
    cli.model.push({ text: "Hello." });
    await cli.baton(["send", "hi", "--key", "usage", "--wait"]);
    const json = await cli.baton(["usage", "--json"]);
    const report = JSON.parse(json.stdout);
    expect(report.sessions.map(({ key }: { key: string }) => key)).toContain("usage");
    const text = await cli.baton(["usage", "--day", report.day]);
    expect(text).toMatchObject({ code: 0, stderr: "" });
    expect(text.stdout).toContain(`${report.day} (UTC)  $${report.total.usd}`);
    expect(text.stdout).toContain(report.models[0].model);
    expect(text.stdout).toContain(report.sessions[0].sessionId);
    expect(text.stdout).not.toContain("\u001b");
  });

  it("of a day without work is all zero; of no day it fails with what is wrong", async () => {
    const empty = await cli.baton(["usage", "--day", "2020-01-01"]);
    expect(empty).toEqual({ code: 0, stdout: "2020-01-01 (UTC)  $0.000000  0 in  0 out\n", stderr: "" });
    const wrong = await cli.baton(["usage", "--day", "yesterday"]);
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain("day");
  });
});
