import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pages, snippetsOf } from "./snippets.ts";
import { root } from "./test-titles.ts";

const snippets = pages().flatMap(snippetsOf);
const typescript = snippets.filter(({ language }) => language === "ts");

/** Inside the repository, so that "baton" means this package. TypeScript's globs and the linters pass over it: it begins with a dot. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(root, ".snippets-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("TypeScript in the docs", () => {
  it("compiles, each block by itself or as the file that it says it is", () => {
    const files = typescript.map(({ page, line, code }) => {
      const named = /^\/\/ (\S+\.ts)\n/.exec(code)?.[1] ?? `line-${line}.ts`;
      const file = join(folder, page.replace(/\W/g, "-"), named);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, code);
      return file;
    });
    expect(files.length).toBeGreaterThan(5);
    const config = { extends: "../tsconfig.json", compilerOptions: { noUnusedLocals: false }, include: [], files };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const { stdout, status } = spawnSync("tsc", ["-p", folder], { encoding: "utf8", cwd: root, env: withTools() });
    const ours = stdout.split("\n").filter((line) => line.includes(".snippets-"));
    expect(ours).toEqual([]);
    // Errors of the product itself are the type check's business, but a compiler that did not run is ours.
    expect(status === 0 || stdout.includes("error TS")).toBe(true);
  }, 120_000);

  it("runs where it is a test", () => {
    const tests = typescript.filter(({ code }) => code.includes('from "vitest"'));
    const named = typescript.filter(
      ({ page, code }) => /^\/\/ \S+\.ts\n/.test(code) && tests.some((test) => test.page === page),
    );
    for (const { page, line, code } of [...named, ...tests]) {
      const name = /^\/\/ (\S+\.ts)\n/.exec(code)?.[1] ?? `line-${line}.test.ts`;
      const file = join(folder, "run", page.replace(/\W/g, "-"), name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, code);
    }
    expect(tests.length).toBeGreaterThanOrEqual(2);
    writeFileSync(
      join(folder, "vitest.config.ts"),
      'export default { test: { include: ["run/**/*.test.ts"], testTimeout: 60_000 } };\n',
    );
    const { stdout, stderr, status } = spawnSync("vitest", ["run", "--root", folder], {
      encoding: "utf8",
      env: withTools(),
    });
    expect({ status, output: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, output: "" });
  }, 180_000);

  it("is what the languages of all blocks are, besides shells and pictures", () => {
    const known = ["ts", "sh"];
    expect(
      snippets.filter(({ language }) => !known.includes(language)).map(({ page, line }) => `${page}:${line}`),
    ).toEqual([]);
  });
});

/** Without what vitest tells its own children. */
function withTools(): NodeJS.ProcessEnv {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^VITEST/.test(name)));
  return { ...env, PATH: `${join(root, "node_modules/.bin")}:${env.PATH}` };
}
