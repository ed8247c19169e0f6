// The shell blocks of the README that are marked, run as they stand against a runtime of its own: only the data folder
// is another one, and the port is free.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { snippetsOf } from "./snippets.ts";
import { root } from "./test-titles.ts";

const blocks = snippetsOf("README.md").filter(({ language, test }) => language === "sh" && test?.startsWith("run"));
const folder = mkdtempSync(join(tmpdir(), "baton-docs-"));
const data = join(folder, "data");
const env = {
  ...process.env,
  PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`,
  BATON_DATA: data,
  PORT: "0",
};
let runtime: ChildProcess;
let printed = "";

/** Looks until `ready`; a runtime that never gets there fails the test by its time-out. */
async function until(ready: () => boolean): Promise<void> {
  while (!ready()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Earlier blocks come first: their variables and functions are those of one terminal. */
function run(count: number): string {
  const code = blocks.slice(0, count).map((block, at) => (at < count - 1 ? definitions(block.code) : block.code));
  const script = code.join("\n").replaceAll(".baton/", `${data}/`);
  const { stdout, stderr, status } = spawnSync("bash", ["-euo", "pipefail", "-c", script], {
    encoding: "utf8",
    env,
    cwd: root,
  });
  expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

/** What a block leaves behind in the terminal: variables and functions. */
function definitions(code: string): string {
  return [...code.matchAll(/^[A-Z]+=.*$|^\w+\(\) \{[\s\S]*?^\}$/gm)].map(([text]) => text).join("\n");
}

beforeAll(async () => {
  runtime = spawn("node", ["bin/baton.ts", "dev"], { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
  runtime.stdout?.on("data", (text) => {
    printed += text;
  });
  await until(() => printed.includes("Try:") || runtime.exitCode !== null);
});
afterAll(async () => {
  const ended = new Promise((resolve) => runtime.once("exit", resolve));
  runtime.kill("SIGTERM");
  await ended;
  rmSync(folder, { recursive: true, force: true });
});

describe("the README's quick start", () => {
  it("has the blocks that this test knows", () => {
    expect(blocks.map(({ test }) => test)).toEqual(["run", "run", "run", "run, when there is mail"]);
    expect(printed).toContain("Baton is ready at http://127.0.0.1:");
  });

  it("gets an answer, and the session in the list", () => {
    const out = run(1);
    const [answer = "", list = "", ...lines] = out.split(/(?<=\})\s*(?=\{|\d)/);
    expect(JSON.parse(answer)).toMatchObject({ key: "agent:aml:cli:dm:me", turn: 1, status: "completed" });
    expect(JSON.parse(list)).toMatchObject({ items: [{ key: "agent:aml:cli:dm:me", status: "completed" }] });
    expect(lines.join("")).toContain("agent:aml:cli:dm:me");
  }, 60_000);

  it("goes on after SIGKILL, in the same session and turn (G1, G7)", async () => {
    const out = run(2);
    const [first = "", again = ""] = out.split(/(?<=\})\s*(?=\{|\d)/);
    const { sessionId, turn } = JSON.parse(first);
    expect(JSON.parse(again)).toMatchObject({ sessionId, turn, status: "completed" });
    expect(out).toContain(`${sessionId}  completed`);
    await until(() => printed.includes("(SIGKILL); starting another"));
  }, 60_000);

  it("mails a link to who decides", async () => {
    run(3);
    const mails = join(data, "mail");
    await until(() => existsSync(mails) && readdirSync(mails).some((file) => file.endsWith(".eml")));
    const out = run(4);
    expect(out).toContain("submit_report");
    expect(out.match(/^http:\/\/127\.0\.0\.1:\d+\/approve\/\S+$/gm)).toHaveLength(1);
  }, 60_000);
});
