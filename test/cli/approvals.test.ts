// baton approvals, approve and reject as processes of their own, against the real API.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { defineTool } from "baton";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { approvalWorld, asked, ended, type Process, tenant } from "../support/approval-world.ts";

const ann = "ann@bank.example";
const ran: unknown[] = [];
let runtime: Process;
let url = "";
let close = async (): Promise<void> => {};

beforeAll(async () => {
  const pay = defineTool({
    name: "pay",
    description: "pays",
    input: z.object({ n: z.int() }),
    effect: "once",
    approval: { approvers: [ann] },
    run: (input) => {
      ran.push(input);
      return "paid";
    },
  });
  const calls = [{ name: "pay", input: { n: 1 } }];
  const world = approvalWorld({ tools: [pay], script: [{ calls }, { calls }, { text: "done" }] });
  runtime = world.start();
  const server = serve({ fetch: runtime.api.fetch, hostname: "127.0.0.1", port: 0, overrideGlobalObjects: false });
  await new Promise<void>((resolve) => server.once("listening", () => resolve()));
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  close = async () => {
    await runtime.kill();
    await new Promise((resolve) => server.close(resolve));
  };
});
afterAll(() => close());

function baton(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, BATON_URL: url, BATON_TOKEN: `${tenant}:u1:${ann}`, NO_COLOR: "1" };
  const script = join(import.meta.dirname, "../../bin/baton.ts");
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

describe("baton approvals", () => {
  it("lists what waits, approves with changed arguments, rejects with a comment, and says what cannot be done", async () => {
    const { sessionId } = await runtime.send();
    const [first] = await asked(runtime, sessionId);
    const id = first?.approval.id ?? "";
    const list = await baton("approvals", "--status", "pending");
    expect([list.code, list.stderr]).toEqual([0, ""]);
    expect(list.stdout).toMatch(/^pending {4}pay {2}until 2026-12-03T12:00:00\.000Z\n/);
    expect(list.stdout).toContain(`  id         ${id}\n`);
    expect(list.stdout).toContain('  arguments  {"n":1}\n');

    expect(await baton("approve", id, "--input", "n=2")).toMatchObject({ code: 2, stdout: "" });
    expect((await baton("approve", id, "--input", '{"n":"two"}')).code).toBe(1);
    const approved = await baton("approve", id, "--input", '{"n":2}', "--comment", "less", "--json");
    expect(JSON.parse(approved.stdout)).toMatchObject({
      id,
      status: "approved",
      input: { n: 2 },
      decisions: [{ by: ann, comment: "less" }],
    });

    const [second] = await asked(runtime, sessionId);
    const rejected = await baton("reject", second?.approval.id ?? "", "--comment", "enough");
    expect([rejected.code, rejected.stdout.split("\n")[0]?.startsWith("rejected ")]).toEqual([0, true]);
    expect(await ended(runtime, sessionId)).toBe("completed");
    expect(ran).toEqual([{ n: 2 }]);
    const late = await baton("reject", id);
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining(`${ann} approved`)]);
    const unknown = await baton("approve", "nothing");
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
  });
});
