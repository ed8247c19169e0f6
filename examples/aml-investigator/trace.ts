// For demos and crash tests only: makes tools slow, so that a SIGKILL can hit one, and counts how often each
// body ran, so that "nothing ran twice" is seen from outside of Baton.
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { ToolContext } from "baton";

export type TraceLine = { tool: string; key: string; phase: "start" | "end"; at: number; pid: number };

/**
 * Wraps a tool's body. AML_TRACE_FILE: one fsynced JSON line (`TraceLine`) before and after each run.
 * AML_STEP_DELAY_MS: half of it is waited before the body and half after it, so that a kill can fall on
 * either side of the effect.
 */
export function traced<Input, Output>(tool: string, run: (input: Input, ctx: ToolContext) => Promise<Output> | Output) {
  return async (input: Input, ctx: ToolContext): Promise<Output> => {
    const half = delayMs() / 2;
    note(tool, ctx.idempotencyKey, "start");
    if (half > 0) await wait(half, undefined, { signal: ctx.signal });
    const output = await run(input, ctx);
    note(tool, ctx.idempotencyKey, "end");
    // The effect has happened: an abort ends the waiting, not the call.
    if (half > 0) await wait(half, undefined, { signal: ctx.signal }).catch(() => undefined);
    return output;
  };
}

function delayMs(): number {
  const text = process.env.AML_STEP_DELAY_MS ?? "0";
  const value = Number(text);
  if (!(value >= 0)) throw new Error(`AML_STEP_DELAY_MS must be a number of milliseconds, got ${JSON.stringify(text)}`);
  return value;
}

function note(tool: string, key: string, phase: TraceLine["phase"]): void {
  const path = process.env.AML_TRACE_FILE;
  if (!path) return;
  const line: TraceLine = { tool, key, phase, at: Date.now(), pid: process.pid };
  const file = openSync(path, "a");
  try {
    writeSync(file, `${JSON.stringify(line)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
