import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startRegistry } from "./registry.ts";

const report = { caseId: "AML-2026-1042", narrative: "text", amountCents: 39_323_400 };
let folder: string;
let file: string;
const closers: (() => Promise<void>)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "registry-"));
  file = join(folder, "reports.jsonl");
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  rmSync(folder, { recursive: true });
});

async function start(dedupe = true) {
  const registry = await startRegistry({ port: 0, file, dedupe });
  closers.push(registry.close);
  return registry;
}

async function post(url: string, body: unknown, key?: string) {
  const headers = { "content-type": "application/json", ...(key ? { "idempotency-key": key } : {}) };
  const response = await fetch(`${url}/reports`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function reportsAt(url: string) {
  const response = await fetch(`${url}/reports`);
  return ((await response.json()) as { items: { receiptId: string; key: string; submissions: number }[] }).items;
}

describe("registry", () => {
  it("files a report and answers its receipt, also by key", async () => {
    const { url } = await start();
    const { status, body } = await post(url, report, "k1");
    expect(status).toBe(201);
    expect(body).toEqual({
      receiptId: "R-000001",
      caseId: report.caseId,
      amountCents: report.amountCents,
      filedAt: expect.any(String),
      narrativeSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await (await fetch(`${url}/reports/by-key/k1`)).json()).toEqual(body);
    expect((await fetch(`${url}/reports/by-key/k2`)).status).toBe(404);
  });

  it("answers the same receipt to the same key, even ten at once, and counts the attempts", async () => {
    const { url } = await start();
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(url, report, "k1")));
    expect(new Set(answers.map((answer) => answer.body.receiptId))).toEqual(new Set(["R-000001"]));
    expect(await reportsAt(url)).toMatchObject([{ receiptId: "R-000001", key: "k1", submissions: 10 }]);
  });

  it("refuses another report under a used key, and changes nothing", async () => {
    const { url } = await start();
    await post(url, report, "k1");
    expect((await post(url, { ...report, amountCents: 1 }, "k1")).status).toBe(409);
    expect(await reportsAt(url)).toMatchObject([{ submissions: 1 }]);
  });

  it("shows a double submission as two reports when it does not look at keys", async () => {
    const { url } = await start(false);
    await post(url, report, "k1");
    await post(url, report, "k1");
    expect((await reportsAt(url)).map(({ receiptId }) => receiptId)).toEqual(["R-000001", "R-000002"]);
  });

  it.each([
    ["a missing key", report, undefined],
    ["cents with a fraction", { ...report, amountCents: 10.5 }, "k"],
    ["an unknown field", { ...report, extra: 1 }, "k"],
    ["no object", null, "k"],
  ])("refuses %s with 400", async (_, body, key) => {
    const { url } = await start();
    expect((await post(url, body, key)).status).toBe(400);
    expect(await reportsAt(url)).toEqual([]);
  });

  it("keeps reports and counts over a restart, and drops a torn last line", async () => {
    const first = await start();
    const { body } = await post(first.url, report, "k1");
    await post(first.url, report, "k1");
    await closers.pop()?.();
    appendFileSync(file, '{"key":"k2","report":{"caseId"');

    const second = await start();
    expect(await reportsAt(second.url)).toEqual([{ ...body, key: "k1", submissions: 2 }]);
    expect((await post(second.url, report, "k1")).body).toEqual(body);
    expect((await post(second.url, report, "k2")).body.receiptId).toBe("R-000002");
    await closers.pop()?.();

    const third = await start();
    expect((await reportsAt(third.url)).map(({ key, submissions }) => [key, submissions])).toEqual([
      ["k1", 3],
      ["k2", 1],
    ]);
  });

  it("runs as a process: prints its url, survives SIGKILL with its reports, and ends with 0 on SIGTERM", async () => {
    const run = async () => {
      const module = fileURLToPath(new URL("registry.ts", import.meta.url));
      const child = spawn(process.execPath, [module, "--port", "0", "--file", file], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      closers.push(async () => {
        child.kill("SIGKILL");
      });
      const [line] = await once(createInterface(child.stdout), "line");
      return { child, url: (JSON.parse(String(line)) as { url: string }).url };
    };
    const first = await run();
    await post(first.url, report, "k1");
    first.child.kill("SIGKILL");
    await once(first.child, "exit");

    const second = await run();
    expect(await reportsAt(second.url)).toMatchObject([{ key: "k1", submissions: 1 }]);
    second.child.kill("SIGTERM");
    expect(await once(second.child, "exit")).toEqual([0, null]);
  });
});
