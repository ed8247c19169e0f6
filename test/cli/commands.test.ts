import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tree } from "../../lib/api/shapes.ts";
import { type CliFixture, cliFixture } from "./cli-fixture.ts";

let cli: CliFixture;
beforeAll(async () => {
  cli = await cliFixture();
});
afterAll(() => cli.close());

describe("baton send", () => {
  it("prints the receipt, and with --wait the answer alone", async () => {
    cli.model.push({ text: "One." }, { text: "Two." });
    const first = await cli.baton(["send", "hello", "--key", "k1"]);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(/^started: session \d{8}_\d{6}_[0-9a-f]{8}, turn 1\n$/);
    await cli.runtime.idle();
    expect(await cli.baton(["send", "again", "--key", "k1", "--wait"])).toEqual({
      code: 0,
      stdout: "Two.\n",
      stderr: "",
    });
  });

  it("gives the same turn for the same idempotency key (G7)", async () => {
    cli.model.push({ text: "Once." });
    const args = ["send", "pay", "--key", "k2", "--wait", "--json", "--idempotency-key", "id-1"];
    const answers = [await cli.baton(args), await cli.baton(args)].map(({ stdout }) => JSON.parse(stdout));
    expect(answers[0]).toMatchObject({ turn: 1, status: "completed", answer: "Once." });
    expect(answers[1]).toEqual(answers[0]);
    expect(cli.model.left()).toBe(0);
  });

  it("reads the text from stdin for -", async () => {
    cli.model.push({ text: "Read." });
    const result = await cli.baton(["send", "-", "--key", "k3", "--wait"], { input: "from a pipe" });
    expect(result.stdout).toBe("Read.\n");
    expect(JSON.stringify(cli.model.requests.at(-1)?.messages)).toContain("from a pipe");
  });

  it("ends with 1 when the turn did not complete", async () => {
    cli.model.push({ text: "No.", stop: "refusal" });
    expect((await cli.baton(["send", "bad", "--key", "k4", "--wait"])).code).toBe(1);
  });
});

describe("baton sessions, show, events, stop", () => {
  let id: string;
  beforeAll(async () => {
    cli.model.push(
      { text: "Looking.", calls: [{ name: "look_up", input: { id: "C-1" } }] },
      { text: "Found\u001b[2J it." },
    );
    const { stdout } = await cli.baton([
      "send",
      "Find C-1 \u001b]0;owned\u0007\u202e مرحبا 陈",
      "--key",
      "seen",
      "--wait",
      "--json",
    ]);
    id = JSON.parse(stdout).sessionId;
  });

  it("list by key and status, as lines and as JSON", async () => {
    const { stdout } = await cli.baton(["sessions", "--key", "seen", "--status", "completed"]);
    expect(stdout).toMatch(new RegExp(`^${id}  completed  turn 1 +seen  \\S+Z  Find C-1 +مرحبا 陈\n$`));
    const { items } = JSON.parse((await cli.baton(["sessions", "--key", "seen", "--json"])).stdout);
    expect(items.map((item: { id: string }) => item.id)).toEqual([id]);
    expect((await cli.baton(["sessions", "--key", "none"])).stdout).toBe("no sessions\n");
  });

  it("show renders the tree with versions, and hostile text does not reach the terminal", async () => {
    const { stdout, code } = await cli.baton(["show", id]);
    expect(code).toBe(0);
    const lines = stdout.split("\n");
    expect(lines[0]).toMatch(new RegExp(`^${id}  completed  v6$`));
    expect(lines.find((line) => line.startsWith("  > "))).toBe("  > Find C-1  مرحبا 陈");
    const steps = lines.filter((line) => /^ +\d+ {2}v/.test(line)).map((line) => line.replace(/ {2,}\d+\.\d s$/, ""));
    expect(steps).toEqual([
      "   1  v3    ✓ thought",
      "   2  v3    ✓ action      look_up",
      "   3  v4    ✓ observation look_up",
      "   4  v5    ✓ final",
    ]);
    expect(lines).toContain("              Found it.");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  it("show --json is the API's tree", async () => {
    const shown = tree.parse(JSON.parse((await cli.baton(["show", id, "--json"])).stdout));
    expect(shown.turns[0]?.steps).toHaveLength(4);
  });

  it("events prints a line a version", async () => {
    const { stdout } = await cli.baton(["events", id, "--after", "2"]);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/ {2,}/).filter((_, i) => i !== 1)),
    ).toEqual([
      ["v3", "model.replied", "turn 1 step 1", "m1"],
      ["v4", "call.finished", "turn 1 step 3", "look_up success"],
      ["v5", "model.replied", "turn 1 step 4", "m1"],
      ["v6", "turn.finished", "turn 1 step 4", "completed completed"],
    ]);
    const json = (await cli.baton(["events", id, "--json"])).stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).version);
    expect(json).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("stop suspends the session and keeps the reason", async () => {
    const stopped = await cli.baton(["stop", id, "--reason", "enough"]);
    expect(stopped).toEqual({ code: 0, stdout: `session ${id} is suspended (v7)\n`, stderr: "" });
    expect((await cli.baton(["show", id])).stdout).toContain("stopped: enough");
  });
});

describe("exit codes and messages", () => {
  it.each([
    [["frobnicate"], "unknown command 'frobnicate'"],
    [["send"], "missing required argument 'text'"],
    [["send", "a", "b"], "too many arguments"],
    [["show", "x", "--colour"], "unknown option '--colour'"],
    [["dev", "--port", "99999"], "Use a whole number from 0 to 65535"],
    [["sessions", "--limit", "1.5"], "Use a whole number"],
    [["sessions", "--url", "not a url"], "not a URL"],
    [["sessions", "--url", "http://127.0.0.1:9"], "a token is needed"],
    [[], "Usage: baton"],
  ])("%j is wrong use: 2, with a hint", async (args, message) => {
    const { code, stdout, stderr } = await cli.baton(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
  });

  it("--help names every command and ends with 0", async () => {
    const { code, stdout } = await cli.baton(["--help"]);
    expect(code).toBe(0);
    for (const name of ["dev", "chat", "send", "sessions", "show", "events", "stop", "demo"])
      expect(stdout).toContain(`  ${name} `);
  });

  it("what the runtime refuses is said with its code and fields: 1", async () => {
    const unknown = await cli.baton(["show", "20260505_143022_ffffffff"]);
    expect(unknown).toEqual({ code: 1, stdout: "", stderr: "baton: no such session (not_found)\n" });
    const bad = await cli.baton(["sessions", "--status", "happy"]);
    expect(bad.code).toBe(1);
    expect(bad.stderr).toContain("$.status");
    const json = await cli.baton(["show", "x", "--json"]);
    expect(JSON.parse(json.stderr)).toMatchObject({ status: 404, code: "not_found" });
  });

  it("says how to start a runtime when there is none, or only the trace of one that was killed", async () => {
    const message = "No runtime found: start one with npm start";
    const empty = await cli.baton(["sessions"], { env: { BATON_DATA: join(cli.data, "empty") } });
    expect([empty.code, empty.stderr.includes(message)]).toEqual([1, true]);
    const killed = join(cli.data, "killed");
    mkdirSync(killed);
    writeFileSync(
      join(killed, "dev.json"),
      JSON.stringify({ url: cli.server.url, token: "acme/ann", supervisorPid: 2 ** 22 + 1 }),
    );
    const gone = await cli.baton(["sessions"], { env: { BATON_DATA: killed } });
    expect([gone.code, gone.stderr.includes(message)]).toEqual([1, true]);
  });

  it("talks to the runtime that --url and --token or the environment name, by the same protocol", async () => {
    const env = { BATON_DATA: join(cli.data, "empty"), BATON_URL: `${cli.server.url}/`, BATON_TOKEN: "rival/eve" };
    expect((await cli.baton(["sessions"], { env })).stdout).toBe("no sessions\n");
    const both = ["sessions", "--limit", "1", "--json", "--url", cli.server.url, "--token", "acme/ann"];
    expect(JSON.parse((await cli.baton(both, { env })).stdout).items).toHaveLength(1);
    const refused = await cli.baton(["sessions", "--token", "nobody"], { env });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      "baton: the token is not valid or has expired (auth.required)\n",
    ]);
  });

  it("says at once when nobody answers at a given URL", async () => {
    const { code, stderr } = await cli.baton(["sessions", "--url", "http://127.0.0.1:1", "--token", "t"]);
    expect([code, stderr]).toEqual([1, "baton: cannot reach http://127.0.0.1:1\n"]);
  });
});
