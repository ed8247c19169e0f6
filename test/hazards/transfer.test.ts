// Export, verify, import, erase: H08, and what an erased session leaves behind.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Forbidden, ImpossibleTransition, InvalidInput, NotFound } from "../../lib/core/errors.ts";
import { stopSession } from "../../lib/sessions/control.ts";
import { eraseSession } from "../../lib/sessions/transfer/erase-session.ts";
import { exportLines } from "../../lib/sessions/transfer/export-lines.ts";
import { importSession } from "../../lib/sessions/transfer/import-session.ts";
import { readLines } from "../../lib/sessions/transfer/read-lines.ts";
import { type Embedded, embed } from "../../lib/testing/embed.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";
import { newWitness, relayAgent, relayScript } from "../support/relay-agent.ts";

async function played(): Promise<{ runtime: Embedded; sessionId: string; text: string }> {
  const runtime = embed({ agents: [relayAgent(newWitness())], model: replayModel(relayScript) });
  const { sessionId } = await runtime.send("go");
  await runtime.idle();
  return { runtime, sessionId, text: await exported(runtime, sessionId) };
}

async function exported(runtime: Embedded, sessionId: string): Promise<string> {
  let text = "";
  for await (const line of exportLines(runtime.deps, "acme", sessionId)) text += line;
  return text;
}

const empty = () => embed({ agents: [relayAgent(newWitness())], model: replayModel([]) });

describe("an exported session", () => {
  it("verifies from the first event to its end line, and imports to the same log", async () => {
    const { runtime, sessionId, text } = await played();
    const reading = readLines(text);
    expect({ complete: reading?.complete, problems: reading?.problems }).toEqual({ complete: true, problems: [] });
    const target = empty();
    const first = await importSession(target.deps, "acme", text);
    expect(first).toEqual({ sessionId, key: "agent:test", versions: 16, written: 16, problems: [] });
    expect(await importSession(target.deps, "acme", text)).toEqual({ ...first, written: 0 });
    expect(await target.deps.store.log.events("acme", sessionId, 0)).toEqual(
      await runtime.deps.store.log.events("acme", sessionId, 0),
    );
    expect(await exported(target, sessionId)).toBe(text);
    expect((await target.deps.store.pointers.get("acme", "agent:test"))?.sessionId).toBe(sessionId);
  });

  it("cut at any byte keeps its whole lines and reports the torn tail (H08)", async () => {
    const { text } = await played();
    const header = text.indexOf("\n") + 1;
    for (let cut = header; cut < text.length; cut += 97) {
      const whole = text.slice(0, cut).split("\n").length - 2;
      const reading = readLines(text.slice(0, cut));
      expect(reading?.checkpoints.length).toBe(Math.min(whole, 16));
      expect(reading?.complete).toBe(false);
      const said = reading?.problems.map(({ message }) => message).join("; ");
      expect(said).toMatch(
        text[cut - 1] === "\n" ? /^the file ends after version \d+ of 16$/ : /the last line is torn; it was dropped/,
      );
    }
    expect(readLines(text.slice(0, header - 5))).toBeNull();
  });

  it("cut in the middle of a turn imports what is whole, and does not run by itself (H08)", async () => {
    const { sessionId, text } = await played();
    const target = empty();
    const lines = text.split("\n");
    const cut = `${lines.slice(0, 8).join("\n")}\n${lines[8]?.slice(0, 50)}`;
    const imported = await importSession(target.deps, "acme", cut);
    expect(imported.problems.map(({ line }) => line)).toEqual([9, 9]);
    await target.boot();
    await target.idle();
    const head = await target.deps.store.log.head("acme", sessionId);
    expect(head?.state.lifecycle).toMatchObject({
      kind: "suspended",
      cause: "imported in part, in the middle of a turn",
    });
    expect(head?.state.turn?.turn).toBe(1);
  });

  it("damaged in the middle is refused with the line; nothing is written (H08)", async () => {
    const { sessionId, text } = await played();
    const middle = Math.floor(text.length / 2);
    const zeros = text.slice(0, middle) + "\0".repeat(300) + text.slice(middle + 300);
    const changed = text.replace('"receipt":"R-5"', '"receipt":"R-6"');
    const gap = text.split("\n").toSpliced(5, 1).join("\n");
    const swapped = text
      .split("\n")
      .toSpliced(3, 2, ...text.split("\n").slice(3, 5).reverse())
      .join("\n");
    const longer = `${text}${text.split("\n")[3]}\n`;
    for (const damaged of [zeros, changed, gap, swapped, longer]) {
      const target = empty();
      const error = await importSession(target.deps, "acme", damaged).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(InvalidInput);
      expect((error as Error).message).toMatch(/^the export is damaged at line \d+: /);
      expect(await target.deps.store.log.head("acme", sessionId)).toBeNull();
    }
  });

  it("refuses lines of another session and files of another tenant (H08, G6)", async () => {
    const { text } = await played();
    const other = await played();
    const foreign = other.text.replaceAll(other.sessionId, "20260101_000000_ffffffff").split("\n")[4];
    const mixed = text
      .split("\n")
      .toSpliced(4, 0, foreign ?? "")
      .join("\n");
    const target = empty();
    await expect(importSession(target.deps, "acme", mixed)).rejects.toThrow(
      "line 5: a line of another session was refused",
    );
    await expect(importSession(target.deps, "evil", text)).rejects.toThrow(Forbidden);
    await expect(importSession(target.deps, "acme", "hello\n")).rejects.toThrow(InvalidInput);
  });

  it("does not replace another session of the same id", async () => {
    const { runtime, sessionId, text } = await played();
    await stopSession(runtime.deps, { tenant: "acme", sessionId, user: "ann" });
    const target = empty();
    await importSession(target.deps, "acme", text);
    await stopSession(target.deps, { tenant: "acme", sessionId, user: "bob" });
    await expect(importSession(target.deps, "acme", await exported(runtime, sessionId))).rejects.toThrow(
      ImpossibleTransition,
    );
  });

  it("holds no token and no hash of a link's secret (G20)", async () => {
    const { text } = await played();
    expect(text).not.toMatch(/taskToken|secretHash/);
  });
});

describe("an erased session", () => {
  it("is gone with its items, its blobs and its address; other sessions keep theirs", async () => {
    const { runtime, sessionId } = await played();
    const other = await runtime.send("go", { key: "agent:other" });
    await runtime.idle();
    const { log } = runtime.deps.store;
    const large = Array.from({ length: 2000 }, (_, i) => createHash("sha256").update(`${i}`).digest("hex")).join("");
    for (const id of [sessionId, other.sessionId]) {
      const head = await log.head("acme", id);
      await log.append(head, { type: "notice", kind: "test", text: large }, { next: () => `test ${id}` });
    }
    await eraseSession(runtime.deps, "acme", sessionId);
    await expect(exported(runtime, sessionId)).rejects.toThrow(NotFound);
    expect(await runtime.table.query({ pk: `acme#${sessionId}` })).toEqual([]);
    expect(await runtime.deps.store.pointers.get("acme", "agent:test")).toBeNull();
    expect(await log.at("acme", sessionId, 1)).toBeNull();
    const spent = await runtime.deps.store.usageDays.day("acme", "2026-11-30");
    expect(spent.map(({ sessionId: id, key, user }) => ({ id, key, user }))).toEqual(
      [
        { id: sessionId, key: "", user: "" },
        { id: other.sessionId, key: "agent:other", user: "ann" },
      ].sort((a, b) => (a.id < b.id ? -1 : 1)),
    );
    expect((await log.events("acme", other.sessionId, 16)).map(({ event }) => event.type)).toEqual(["notice"]);
  });

  it("must not be in the middle of a turn", async () => {
    const { runtime } = await played();
    const waiting = await runtime.send("go", { key: "agent:busy" });
    await expect(eraseSession(runtime.deps, "acme", waiting.sessionId)).rejects.toThrow(/stop the session first/);
    await runtime.idle();
  });
});
