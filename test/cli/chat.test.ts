import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CliFixture, cliFixture } from "./cli-fixture.ts";

let cli: CliFixture;
beforeEach(async () => {
  cli = await cliFixture();
});
afterEach(() => cli.close());

const lookUp = { calls: [{ name: "look_up", input: { id: "C-1" } }] };

describe("baton chat in a pipe", () => {
  it("answers one line after the other, with a plain line a step", async () => {
    cli.model.push({ text: "Looking.", ...lookUp }, { text: "Found." }, { text: "Bye." });
    const { code, stdout, stderr } = await cli.baton(["chat", "--key", "k"], { input: "find C-1\n\nthanks\n" });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.replace(/\d\.\d s/, "N s")).toBe(
      ["Looking.", 'v3   → look_up {"id":"C-1"}', "v4   ✓ look_up N s", "Found.", "Bye.", ""].join("\n"),
    );
  });

  it("prints one JSON line an event with --json, of the asked turns only", async () => {
    cli.model.push({ text: "One." }, { text: "Two." });
    await cli.baton(["chat", "--key", "k"], { input: "first\n" });
    const { stdout } = await cli.baton(["chat", "--key", "k", "--json"], { input: "second\n" });
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const stored = events.filter((event) => "version" in event);
    expect(stored.map(({ turn, type }) => [turn, type])).toEqual([
      [2, "turn.started"],
      [2, "model.replied"],
      [2, "turn.finished"],
    ]);
    expect(events.filter((event) => !("version" in event)).every((event) => event.kind === "text")).toBe(true);
  });

  it("prints the answer of a chat command, which is no turn", async () => {
    cli.model.push({ text: "One." });
    const { code, stdout } = await cli.baton(["chat", "--key", "k"], { input: "first\n/status\n" });
    const [first, ...status] = stdout.trimEnd().split("\n");
    expect([code, first]).toEqual([0, "One."]);
    expect(status.join("\n")).toContain("completed");
    expect(cli.model.left()).toBe(0);
  });

  it("ends with 1 when a turn failed", async () => {
    cli.model.push({ text: "No.", stop: "refusal" });
    const { code, stdout } = await cli.baton(["chat", "--key", "k"], { input: "do it\n" });
    expect(code).toBe(1);
    expect(stdout).toContain("declined");
  });

  it("stops watching with Ctrl-C, says how to come back, and the session goes on", async () => {
    cli.model.push({ calls: [{ name: "wait_for", input: {} }] }, { text: "Done." });
    const chat = cli.start(["chat", "--key", "k"]);
    chat.child.stdin?.write("wait\n");
    await chat.seen(/→ wait_for/);
    await cli.gate.entered;
    chat.child.kill("SIGINT");
    const { code, stderr } = await chat.done;
    expect(code).toBe(0);
    expect(stderr).toContain("Stopped watching; the session goes on.");
    expect(stderr).toContain("baton chat --key 'k'");
    cli.gate.open();
    await cli.runtime.idle();
    const { stdout } = await cli.baton(["sessions", "--key", "k", "--json"]);
    expect(JSON.parse(stdout).items[0]).toMatchObject({ status: "completed", turn: 1 });
  });

  it("goes on when the runtime restarts on another port, says so once, and misses nothing (G16)", async () => {
    cli.model.push({ calls: [{ name: "wait_for", input: {} }] }, { text: "Done." });
    const chat = cli.start(["chat", "--key", "k"]);
    chat.child.stdin?.end("wait\n");
    await chat.seen(/→ wait_for/);
    await cli.gate.entered;
    await cli.server.close();
    await chat.seen(/connection to the runtime is lost/);
    cli.gate.open();
    await cli.runtime.idle();
    await cli.restart();
    const { code, stdout, stderr } = await chat.done;
    expect(code).toBe(0);
    expect(stdout.replace(/\d\.\d s/, "N s")).toBe(
      ["v3   → wait_for {}", "v4   ✓ wait_for N s", "Done.", ""].join("\n"),
    );
    expect(stderr.match(/is lost/g)).toHaveLength(1);
    expect(stderr.match(/is back/g)).toHaveLength(1);
  });
});

describe("baton events --follow", () => {
  it("prints what is there and what happens, over a restart, until Ctrl-C", async () => {
    cli.model.push({ text: "One." }, { text: "Two." });
    const { sessionId } = JSON.parse((await cli.baton(["send", "a", "--key", "k", "--wait", "--json"])).stdout);
    const events = cli.start(["events", sessionId, "--follow", "--json"]);
    await events.seen(/"version":4/);
    await cli.restart();
    await cli.baton(["send", "b", "--key", "k", "--wait"]);
    await events.seen(/"version":7/);
    events.child.kill("SIGINT");
    const { code, stdout } = await events.done;
    expect(code).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).version),
    ).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });
});
