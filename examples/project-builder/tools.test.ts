import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolContext } from "baton";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { commitFeature } from "./commit-feature.ts";
import { gitLog, readFile, writeFile } from "./files.ts";
import { restoreWorkspace } from "./restore-workspace.ts";
import { runCheck } from "./run-check.ts";
import { workspaceOf } from "./workspace.ts";

function context(key: string): ToolContext {
  const nothing = () => undefined;
  const place = { tenant: "t", user: "u", key: "agent:project:u", sessionId: "s", turn: 2, round: 1 };
  return { ...place, idempotencyKey: key, signal: new AbortController().signal, log: nothing, progress: nothing };
}
const write = (path: string, text: string) => writeFile.run({ path, text }, context("w"));
const commit = (feature: string, key: string) =>
  commitFeature.run({ feature, message: "m" }, context(key)) as Promise<{ commit: string }>;
const log = async () =>
  ((await gitLog.run({ limit: 20 }, context("l"))) as { commits: { commit: string; feature: string }[] }).commits;

describe("the tools of project-builder", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "baton-project-"));
    vi.stubEnv("PROJECT_DIR", folder);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(["../x", "/etc/x", ".", ".git/hooks/post-commit", "a/.GIT/config", "out/x"])(
    "write nothing to %s",
    (path) => {
      symlinkSync(tmpdir(), join(folder, "out"));
      expect(() => write(path, "x")).toThrow(/project/);
    },
  );

  it("write and read what lies inside", () => {
    write("a/b.txt", "one");
    expect(readFile.run({ path: "a/b.txt" }, context("r"))).toEqual({ path: "a/b.txt", text: "one" });
    expect(readFile.run({ path: "." }, context("r"))).toEqual({ files: ["a/b.txt"] });
  });

  it("commit once for a key, however often it runs (G2)", async () => {
    write("a", "1");
    const first = await commit("f", "k1");
    write("a", "2");
    expect(await commit("f", "k1")).toEqual(first);
    expect(await log()).toHaveLength(1);
  });

  it("keep a feature one commit when it is tried again", async () => {
    await commit("plan", "k0");
    write("a", "1");
    await commit("f", "k1");
    write("a", "2");
    const again = await commit("f", "k2");
    expect((await log()).map(({ feature }) => feature)).toEqual(["f", "plan"]);
    expect(await commit("f", "k1")).toEqual(again);
  });

  it("run no hook that was left in the repository", async () => {
    await commit("plan", "k0");
    mkdirSync(join(folder, ".git", "hooks"), { recursive: true });
    writeFileSync(join(folder, ".git", "hooks", "pre-commit"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    await commit("f", "k1");
    expect(await log()).toHaveLength(2);
  });

  it("restore a commit, drop what is newer, and keep it under a tag", async () => {
    write("a", "1");
    const good = await commit("f", "k1");
    write("a", "2");
    await commit("g", "k2");
    write("b", "not committed");
    const restore = () => restoreWorkspace.run({ commit: good.commit }, context("k3"));
    const first = await restore();
    expect(readFileSync(join(folder, "a"), "utf8")).toBe("1");
    expect(readFile.run({ path: "." }, context("r"))).toEqual({ files: ["a"] });
    expect(await restore()).toEqual(first);
    await expect(restoreWorkspace.run({ commit: "0000000" }, context("k4"))).rejects.toThrow(/knows no commit/);
  });

  it("fail a check with what is wrong, and pass it when it is mended", async () => {
    await expect(runCheck.run({ name: "page" }, context("c"))).rejects.toThrow(/index\.html is missing/);
    write("index.html", '<!doctype html><html lang="en"><title>t</title><h1>h</h1><p>p</p></html>');
    expect(await runCheck.run({ name: "page" }, context("c"))).toMatchObject({ name: "page", passed: true });
    write("data.json", '[{"name":"a","text":"b"}]');
    await expect(runCheck.run({ name: "data" }, context("c"))).rejects.toThrow(/at least three entries/);
    write("data.html", '<a href="nowhere.html">');
    await expect(runCheck.run({ name: "links" }, context("c"))).rejects.toThrow(
      /nowhere\.html is a file of the project/,
    );
  });

  it("have a folder for each conversation, the same after a reset", () => {
    vi.stubEnv("PROJECT_DIR", "");
    const one = workspaceOf({ tenant: "t", key: "agent:a" });
    expect(workspaceOf({ tenant: "t", key: "agent:a" })).toBe(one);
    expect(workspaceOf({ tenant: "other", key: "agent:a" })).not.toBe(one);
    expect(workspaceOf({ tenant: "t", key: "agent-a" })).not.toBe(one);
  });
});
