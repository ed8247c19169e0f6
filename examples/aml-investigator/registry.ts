// The report registry: stands for the authority that takes the reports. A separate process with its own file, so
// that a report filed twice is seen from outside. Every accepted request is one fsynced JSON line.
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import * as z from "zod";

const reportSchema = z.strictObject({
  caseId: z.string().min(1),
  narrative: z.string().min(1),
  amountCents: z.int().min(0),
});
type Report = z.infer<typeof reportSchema>;

type Receipt = {
  receiptId: string;
  caseId: string;
  amountCents: number;
  filedAt: string;
  narrativeSha256: string;
};

type Line = { key: string; report: Report; receipt: Receipt } | { again: string; at: string };
type Filed = { key: string; report: Report; receipt: Receipt; submissions: number };

export type RegistryOptions = {
  /** 0 takes a free one. */
  port: number;
  /** JSON lines; made when missing. */
  file: string;
  /** false: the key is ignored and every request files a report, so that a double submission shows. @default true */
  dedupe?: boolean;
};

/** Starts the service on 127.0.0.1. `close` ends open connections and lets the file go. */
export async function startRegistry(options: RegistryOptions): Promise<{ url: string; close: () => Promise<void> }> {
  const store = openReports(options.file);
  const server = createAdaptorServer({ fetch: registryApp(store, options.dedupe ?? true).fetch });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, "127.0.0.1", resolve);
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => {
        store.close();
        resolve();
      });
      if ("closeAllConnections" in server) server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

function registryApp(store: ReturnType<typeof openReports>, dedupe: boolean): Hono {
  const app = new Hono();
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/reports", (c) =>
    c.json({ items: store.reports.map(({ receipt, key, submissions }) => ({ ...receipt, key, submissions })) }),
  );
  app.get("/reports/by-key/:key", (c) => {
    const filed = store.reports.find(({ key }) => key === c.req.param("key"));
    return filed ? c.json(filed.receipt) : c.json({ error: "no report was filed under this key" }, 404);
  });
  app.post("/reports", bodyLimit({ maxSize: 1_000_000 }), async (c) => {
    const key = c.req.header("idempotency-key");
    if (!key) return c.json({ error: "the header Idempotency-Key is missing" }, 400);
    const body = reportSchema.safeParse(await c.req.json().catch(() => null));
    if (!body.success) return c.json({ error: z.prettifyError(body.error) }, 400);
    // No await from here to the answer: two requests with one key cannot both find nothing.
    const known = dedupe ? store.reports.find((filed) => filed.key === key) : undefined;
    if (!known) return c.json(store.file(key, body.data), 201);
    if (!sameReport(known.report, body.data)) return c.json({ error: "this key was used for another report" }, 409);
    store.again(known);
    return c.json(known.receipt);
  });
  return app;
}

function sameReport(a: Report, b: Report): boolean {
  return a.caseId === b.caseId && a.narrative === b.narrative && a.amountCents === b.amountCents;
}

function openReports(path: string) {
  const reports: Filed[] = [];
  for (const line of readLines(path)) {
    if ("report" in line) reports.push({ ...line, submissions: 1 });
    else for (const filed of reports) if (filed.receipt.receiptId === line.again) filed.submissions += 1;
  }
  const handle = openSync(path, "a");
  const append = (line: Line) => {
    writeSync(handle, `${JSON.stringify(line)}\n`);
    fsyncSync(handle);
  };
  return {
    reports,
    file(key: string, report: Report): Receipt {
      const receipt: Receipt = {
        receiptId: `R-${String(reports.length + 1).padStart(6, "0")}`,
        caseId: report.caseId,
        amountCents: report.amountCents,
        filedAt: new Date().toISOString(),
        narrativeSha256: createHash("sha256").update(report.narrative).digest("hex"),
      };
      append({ key, report, receipt });
      reports.push({ key, report, receipt, submissions: 1 });
      return receipt;
    },
    again(filed: Filed): void {
      append({ again: filed.receipt.receiptId, at: new Date().toISOString() });
      filed.submissions += 1;
    },
    close: () => closeSync(handle),
  };
}

/** A last line without its end was never answered for: it is cut off. Any other damage stops the start. */
function readLines(path: string): Line[] {
  const bytes = readOr(path, Buffer.alloc(0));
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end < bytes.length) truncateSync(path, end);
  const text = bytes.subarray(0, end).toString("utf8");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]));
}

function readOr(path: string, missing: Buffer): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return missing;
    throw error;
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "0" },
      file: { type: "string", default: "registry.jsonl" },
      "no-dedupe": { type: "boolean", default: false },
    },
  });
  const registry = await startRegistry({ port: Number(values.port), file: values.file, dedupe: !values["no-dedupe"] });
  console.log(JSON.stringify({ url: registry.url }));
  const stop = () => registry.close().then(() => process.exit(0));
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  // Started with an IPC channel: a parent that was killed takes the registry with it.
  process.once("disconnect", stop);
}
