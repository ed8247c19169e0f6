// `npm run demo`: the flagship, killed in the middle of its work and again while it waits for a person, and compared
// with a run that nobody disturbed. Ends with code 1 when anything ran twice or came out differently.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pc from "picocolors";
import { compareRuns, type DemoRun } from "./demo/compare-runs.ts";
import { mailedLinks } from "./demo/mailed-link.ts";
import { readRun, toolRuns } from "./demo/read-run.ts";
import { type RuntimeProcess, startRuntime, until } from "./demo/runtime-process.ts";
import { timeline } from "./demo/timeline.ts";

export type DemoOptions = {
  /** Keep the data folder and say where it is. @default false */
  keep?: boolean;
  print?: (line: string) => void;
};

const key = "agent:aml:demo:dm:analyst";
const question = "Investigate customer C-1042 and file a report if it is warranted";
/** Long enough that a kill falls inside a tool, short enough to watch. */
const stepDelayMs = 400;
const waitMs = 60_000;

/** Answers the exit code. */
export async function runDemo(options: DemoOptions = {}): Promise<number> {
  const print = options.print ?? ((line: string) => void process.stdout.write(`${line}\n`));
  const root = mkdtempSync(join(tmpdir(), "baton-demo-"));
  try {
    print(pc.bold("\n1  The investigation, undisturbed (for comparison)"));
    const undisturbed = await play(join(root, "undisturbed"), () => {}, false);
    print(`   ${undisturbed.steps.length} steps, ${undisturbed.reports.length} report filed`);
    print(pc.bold("\n2  The same, with the process killed twice"));
    const disturbed = await play(join(root, "killed"), print, true);
    print(pc.bold("\n3  What happened, by version of the session's log"));
    for (const line of timeline(disturbed)) print(`   ${line}`);
    print(pc.bold("\n4  Compared with the undisturbed run"));
    const findings = compareRuns(undisturbed, disturbed);
    for (const finding of findings) print(`   ${finding.ok ? pc.green("ok  ") : pc.red("FAIL")} ${finding.text}`);
    const good = findings.every((finding) => finding.ok);
    print(
      good ? pc.green("\nNothing was lost, nothing ran twice that must run once.\n") : pc.red("\nThe runs differ.\n"),
    );
    if (options.keep) print(`Data: ${root}`);
    return good ? 0 : 1;
  } finally {
    if (!options.keep) rmSync(root, { recursive: true, force: true });
  }
}

async function play(data: string, print: (line: string) => void, disturb: boolean): Promise<DemoRun> {
  const traceFile = join(data, "trace.jsonl");
  const env = {
    AML_TRACE_FILE: traceFile,
    BATON_DEMO_LATENCY_MS: "0",
    ...(disturb ? { AML_STEP_DELAY_MS: String(stepDelayMs) } : {}),
  };
  let runtime = await startRuntime({ data, env });
  try {
    print(`   ready at ${runtime.info().url}, worker ${runtime.info().workerPid}, model: ${runtime.info().model}`);
    const sent = await runtime.call<{ sessionId: string }>("/v1/messages", {
      body: { key, text: question },
      key: "demo",
    });
    print(`   asked: "${question}" -> session ${sent.sessionId}`);
    if (disturb) await killInStepThree(runtime, traceFile, print);
    await waitForApproval(runtime);
    const { link, to } = await mailed(runtime);
    print(`   waiting for ${to}; the mail is in ${runtime.info().mailDir}`);
    if (disturb) {
      await scan(runtime, link, print);
      print(`   ${pc.yellow("SIGKILL")} to the whole runtime while it waits`);
      await runtime.killAll();
      runtime = await startRuntime({ data, env });
      print(
        `   started again; mails in the outbox: ${mailedLinks(runtime.info().mailDir).length} (none was sent twice)`,
      );
    }
    // The port changed with the restart; a real deployment's address does not.
    const decided = await approve(new URL(new URL(link).pathname, runtime.info().url).href);
    print(`   ${to} opens the link, reads it, and presses Approve: ${decided}`);
    await until(
      async () =>
        (await readRun(runtime, sent.sessionId, traceFile)).status !== "paused" &&
        (await isDone(runtime, sent.sessionId)),
      waitMs,
      "the report to be filed",
    );
    return await readRun(runtime, sent.sessionId, traceFile);
  } finally {
    await runtime.stop();
  }
}

async function killInStepThree(
  runtime: RuntimeProcess,
  traceFile: string,
  print: (line: string) => void,
): Promise<void> {
  await until(
    () => toolRuns(traceFile).some((run) => run.tool === "assess_risk" && run.phase === "start"),
    waitMs,
    "step 3 (assess_risk) to begin",
  );
  const before = runtime.info().workerPid;
  runtime.killWorker();
  print(`   ${pc.yellow("SIGKILL")} to worker ${before} inside step 3, assess_risk`);
  await until(() => runtime.info().workerPid !== before, waitMs, "the next worker");
  print(`   worker ${runtime.info().workerPid} goes on from the last checkpoint`);
}

async function waitForApproval(runtime: RuntimeProcess): Promise<void> {
  await until(
    async () => (await runtime.call<{ items: unknown[] }>("/v1/approvals?status=pending")).items.length > 0,
    waitMs,
    "the approval to be asked for",
  );
}

async function mailed(runtime: RuntimeProcess): Promise<{ to: string; link: string }> {
  await until(() => mailedLinks(runtime.info().mailDir).length > 0, waitMs, "the mail to the compliance officer");
  const [first] = mailedLinks(runtime.info().mailDir);
  if (!first) throw new Error("the mail has no link");
  return first;
}

/** What mail scanners do: fetch the link, from several addresses, before the person ever sees it. */
async function scan(runtime: RuntimeProcess, link: string, print: (line: string) => void): Promise<void> {
  for (const method of ["GET", "HEAD", "GET"]) await fetch(link, { method });
  const { items } = await runtime.call<{ items: { status: string }[] }>("/v1/approvals?status=pending");
  print(`   a mail scanner opened the link three times: still ${items[0]?.status ?? "decided?!"}`);
}

async function approve(link: string): Promise<string> {
  const page = await (await fetch(link)).text();
  const nonce = /name="nonce" value="([^"]+)"/.exec(page)?.[1] ?? "";
  const body = new URLSearchParams({ nonce, comment: "checked, file it", do: "approve" });
  const response = await fetch(link, { method: "POST", body, redirect: "manual" });
  return response.status < 400 ? "approved" : `refused (${response.status})`;
}

async function isDone(runtime: RuntimeProcess, sessionId: string): Promise<boolean> {
  const { session } = await runtime.call<{ session: { status: string } }>(`/v1/sessions/${sessionId}`);
  return session.status === "completed" || session.status === "failed";
}
