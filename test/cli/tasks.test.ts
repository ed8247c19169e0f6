import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliFixture, cliFixture } from "./cli-fixture.ts";

let cli: CliFixture;
beforeAll(async () => {
  cli = await cliFixture();
});
afterAll(() => cli.close());

describe("baton tasks", () => {
  it("adds, lists, runs, shows the runs and removes", async () => {
    cli.model.push({ text: "Reported." });
    expect((await cli.baton(["tasks"])).stdout).toBe("no tasks\n");
    const schedule = ["--cron", "0 6 * * *", "--time-zone", "Europe/Berlin", "--catch-up", "once"];
    const added = await cli.baton(["tasks", "add", "daily", "--agent", "helper", "--prompt", "Report.", ...schedule]);
    expect(added).toMatchObject({ code: 0, stderr: "" });
    expect(added.stdout).toMatch(/^daily {2}helper {2}0 6 \* \* \* Europe\/Berlin {2}next \S+ {2}Report\.\n$/);
    expect((await cli.baton(["tasks", "list"])).stdout).toBe(added.stdout);
    const ran = await cli.baton(["tasks", "run", "daily", "--json"]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ kind: "manual", sessionId: expect.any(String) });
    await cli.runtime.idle();
    const runs = await cli.baton(["tasks", "runs", "daily"]);
    expect(runs.stdout).toMatch(/ done {5}\d{8}_\d{6}_[0-9a-f]{8} {2}completed {2}manual-/);
    expect((await cli.baton(["tasks", "remove", "daily"])).stdout).toBe("removed daily; runs that have begun go on\n");
    expect(JSON.parse((await cli.baton(["tasks", "--json"])).stdout)).toEqual({ items: [] });
  });

  it.each([
    [["tasks", "dance"], 2, "use one of list, add, run, runs, remove"],
    [["tasks", "run"], 2, "which task?"],
    [["tasks", "add", "x"], 2, "give --agent and --prompt"],
    [["tasks", "add", "x", "--agent", "helper", "--prompt", "p", "--on", "nothing"], 2, "--on"],
    [["tasks", "runs", "nothing"], 1, "no such task"],
    [["tasks", "add", "x", "--agent", "helper", "--prompt", "p", "--cron", "never"], 1, "use five fields"],
  ])("says what is wrong: %j", async (args, code, words) => {
    const result = await cli.baton(args);
    expect(result.code).toBe(code);
    expect(result.stderr).toContain(words);
  });
});
