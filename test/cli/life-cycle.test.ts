// The control commands as people run them, against the real API.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliFixture, cliFixture } from "./cli-fixture.ts";

let cli: CliFixture;
beforeAll(async () => {
  cli = await cliFixture();
});
afterAll(() => cli.close());

const json = async (...args: string[]) => JSON.parse((await cli.baton([...args, "--json"])).stdout);

describe("baton resume, reset, retry, rollback, fork, compact, stop-all", () => {
  it("go where they say, and end with 1 for what is not possible and with 2 for wrong use", {
    timeout: 90_000,
  }, async () => {
    cli.model.push({ text: "One." }, { fault: 401 });
    const first = await json("send", "hello", "--key", "k", "--wait");
    await cli.baton(["send", "again", "--key", "k", "--wait"]);
    const id = first.sessionId;
    expect(await json("show", id)).toMatchObject({ turns: [{ status: "completed" }, { status: "error" }] });

    cli.model.push({ text: "Two." });
    expect((await cli.baton(["retry", id])).stdout).toBe(
      `turn 2 of session ${id} goes on from before the step that failed\n`,
    );
    await cli.runtime.idle();
    const { turns, session } = await json("show", id);
    expect(turns[1]).toMatchObject({ status: "completed", answer: "Two." });

    const fork = await cli.baton(["fork", id, "4"]);
    expect(fork.stdout).toMatch(/^session \S+ branches off; go on with: baton chat --key 'k#fork-[0-9a-f]{8}'\n$/);
    expect((await cli.baton(["rollback", id, "4"])).stdout).toBe(
      `session ${id} goes on from version 4 (v${session.version + 1})\n`,
    );
    expect((await cli.baton(["stop", id])).stdout).toContain("is suspended");
    expect((await cli.baton(["resume", id])).stdout).toMatch(/^session \S+ goes on: completed/);
    const nothing = await cli.baton(["resume", id]);
    expect([nothing.code, nothing.stdout]).toEqual([1, ""]);
    expect(nothing.stderr).toContain("nothing to resume");
    expect((await cli.baton(["rollback", id, "four"])).code).toBe(2);
    expect((await cli.baton(["fork", id, "999"])).code).toBe(1);

    const reset = await cli.baton(["reset", id]);
    expect(reset.stdout).toMatch(new RegExp(`^session ${id} is closed; \\S+ takes over\n$`));
    expect((await cli.baton(["compact", id])).code).toBe(1);
  });

  it("stop the tenant and lift the stop", { timeout: 60_000 }, async () => {
    expect((await cli.baton(["stop-all", "--reason", "fire"])).stdout).toContain("stopped 0 sessions");
    const refused = await cli.baton(["send", "hello", "--key", "other"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("fire")]);
    expect((await cli.baton(["send", "/help"])).stdout).toContain("/undo [n]");
    expect((await cli.baton(["stop-all", "--lift"])).code).toBe(0);
    cli.model.push({ text: "Back." });
    expect((await cli.baton(["send", "hello", "--key", "other", "--wait"])).stdout).toBe("Back.\n");
  });
});
