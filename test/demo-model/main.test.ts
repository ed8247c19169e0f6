// The demo model as a process of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";

it("prints one JSON line with its url, answers there, and ends on SIGTERM", async () => {
  const main = join(import.meta.dirname, "../../lib/demo-model/main.ts");
  const child = spawn(process.execPath, [main, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  const { url } = JSON.parse(line);
  const response = await fetch(`${url}/v1/models`);
  const body = await response.json();
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  expect([response.status, body, code]).toEqual([200, expect.objectContaining({ has_more: false }), 0]);
});
