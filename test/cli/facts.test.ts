import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ann } from "../support/memory-world.ts";
import { type CliFixture, cliFixture } from "./cli-fixture.ts";

let cli: CliFixture;
const id = "3f9c1a7be20d4c5f8a61";
beforeAll(async () => {
  cli = await cliFixture();
  await cli.runtime.deps.store.facts.add(ann, {
    id,
    text: "I live in \u001b[2JBerlin.",
    kind: "profile",
    source: { sessionId: "20261130_120000_0000abcd", turn: 3 },
    origin: "user",
    validFrom: Date.UTC(2026, 10, 30),
    storedAt: 0,
    revision: 1,
  });
});
afterAll(() => cli.close());

describe("baton facts", () => {
  it("lists what is remembered, and as JSON what the API says", async () => {
    const text = await cli.baton(["facts"]);
    expect(text).toEqual({
      code: 0,
      stdout: `${id}  profile     I live in Berlin.  since 2026-11-30T00:00:00.000Z  20261130_120000_0000abcd turn 3\n`,
      stderr: "",
    });
    const json = await cli.baton(["facts", "list", "--json"]);
    expect(JSON.parse(json.stdout).items).toMatchObject([{ id, kind: "profile", origin: "user" }]);
  });

  it("corrects one, then deletes it", async () => {
    const edited = await cli.baton(["facts", "edit", id, "I live in Munich."]);
    expect(edited).toMatchObject({ code: 0, stdout: expect.stringContaining("I live in Munich.") });
    expect(await cli.baton(["facts", "delete", id])).toEqual({
      code: 0,
      stdout: `fact ${id} is deleted\n`,
      stderr: "",
    });
    expect(await cli.baton(["facts", "--all"])).toEqual({ code: 0, stdout: "no facts\n", stderr: "" });
    expect((await cli.baton(["facts", "delete", id])).code).toBe(1);
  });

  it("says what is wrong with its use", async () => {
    for (const args of [["forget", id], ["delete"], ["edit", id], ["edit"]]) {
      expect((await cli.baton(["facts", ...args])).code).toBe(2);
    }
    const other = await cli.baton(["facts", "--user", "bob"]);
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("not yours") });
  });
});
