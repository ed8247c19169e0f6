// What must be true when everything has come to its end, whatever happened on the way. Every departure is a line, so
// that one run tells all that is wrong.
import type { Checkpoint } from "../../lib/core/checkpoint.ts";
import type { Store } from "../../lib/store/index.ts";
import type { Message } from "./run-episode.ts";
import { textOf, type Witness } from "./soak-agent.ts";

export type Findings = {
  /** Empty when all is well. */
  wrong: string[];
  turns: number;
  /** Turns that were taken over, handed over, and given up. */
  resumed: number;
  continued: number;
  givenUp: number;
  versions: number;
  effects: number;
};

const tenant = "acme";

export async function checkSessions(store: Store, messages: readonly Message[], witness: Witness): Promise<Findings> {
  const findings: Findings = { wrong: [], turns: 0, resumed: 0, continued: 0, givenUp: 0, versions: 0, effects: 0 };
  const calls: Calls = { once: new Map(), idempotent: new Map() };
  const bySession = Map.groupBy(messages, ({ session }) => session);
  for (const [session, expected] of bySession) {
    const place = `session ${session}`;
    const texts: string[] = [];
    let id = await firstOf(store, expected);
    if (!id) findings.wrong.push(`${place}: it is not there`);
    while (id) {
      const log = await store.log.events(tenant, id, 0);
      checkLog(findings, `${place} (${id})`, log, calls);
      texts.push(...textsOf(log));
      const waiting = await store.inbox.waiting(tenant, id);
      if (waiting.length > 0) findings.wrong.push(`${place}: ${waiting.length} messages wait in ${id}`);
      const lifecycle = log.at(-1)?.state.lifecycle;
      id = lifecycle?.kind === "closed" ? lifecycle.successor : undefined;
    }
    const wanted = expected.map(textOf);
    if (JSON.stringify(texts) !== JSON.stringify(wanted)) {
      findings.wrong.push(`${place}: messages in turns ${JSON.stringify(texts)}, sent ${JSON.stringify(wanted)}`);
    }
  }
  checkEffects(findings, witness, calls);
  const { rows } = await store.statuses.due(Number.MAX_SAFE_INTEGER);
  for (const { id, sk, due } of rows) findings.wrong.push(`${sk} of ${id} is still due at ${due}`);
  return findings;
}

/** The oldest session of the conversation. */
async function firstOf(store: Store, messages: readonly Message[]): Promise<string | undefined> {
  let id = messages[0]?.accepted?.sessionId;
  for (;;) {
    const first = id ? await store.log.at(tenant, id, 1) : null;
    const parent = first?.event.type === "session.created" ? first.event.parent : undefined;
    if (!parent) return first ? id : undefined;
    id = parent.sessionId;
  }
}

/** How each call ended, by idempotency key; `open`: its turn was given up first. */
type Calls = Record<"once" | "idempotent", Map<string, string>>;

/** Only the turn's owner writes these; whoever was taken over from is fenced off. */
const stepEvents = new Set(["model.replied", "model.failed", "call.started", "call.finished", "turn.finished"]);

function checkLog(findings: Findings, place: string, log: readonly Checkpoint[], calls: Calls): void {
  findings.versions += log.length;
  if (log.some(({ version }, i) => version !== i + 1)) {
    findings.wrong.push(`${place}: versions ${log.map(({ version }) => version).join(",")}`);
  }
  const keys = new Map<string, string>();
  let [open, owner] = [0, ""];
  for (const { event, state, version, writer } of log) {
    if (stepEvents.has(event.type) && writer.split("/")[0] !== owner) {
      findings.wrong.push(`${place}: version ${version}, ${event.type}, is by ${writer} in the turn of ${owner}`);
    }
    owner = state.turn?.owner ?? "";
    if (event.type === "turn.started") [open, findings.turns] = [open + 1, findings.turns + 1];
    if (event.type === "session.resumed") findings.resumed++;
    if (event.type === "turn.continued") findings.continued++;
    if (event.type === "call.started") {
      const { idempotencyKey: key, effect } = event;
      keys.set(`${event.round}/${event.index}`, key);
      if (effect !== "read" && !calls[effect].has(key)) calls[effect].set(key, "open");
    }
    if (event.type === "call.finished" && event.effect !== "read") {
      const known = keys.get(`${event.round}/${event.index}`) ?? "";
      calls[event.effect].set(known, event.outcome.status);
    }
    if (event.type === "turn.finished" || event.type === "turn.failed") {
      open--;
      const gaveUp = state.lifecycle.kind === "suspended" && event.endReason === "stopped";
      for (const key of keys.values()) {
        const left = calls.once.get(key) === "open" || calls.idempotent.get(key) === "open";
        if (left && !gaveUp) findings.wrong.push(`${place}: ${key} has no outcome`);
      }
      keys.clear();
      if (gaveUp) findings.givenUp++;
      else if (event.endReason !== "completed") {
        findings.wrong.push(`${place}: turn ${event.turn} ended as ${event.endReason}: ${event.answer}`);
      }
    }
  }
  if (open !== 0) findings.wrong.push(`${place}: ${open} turns are open`);
}

function textsOf(log: readonly Checkpoint[]): string[] {
  return log.flatMap(({ event }) =>
    event.type === "turn.started" || event.type === "turn.steered"
      ? event.messages.flatMap(({ content }) => content.map((block) => (block.type === "text" ? block.text : "?")))
      : [],
  );
}

/** Each effect is counted once: what succeeded has happened, `once` exactly once, and nothing happened unheard of. */
function checkEffects(findings: Findings, witness: Witness, calls: Calls): void {
  for (const effect of ["once", "idempotent"] as const) {
    const happened = witness[effect];
    findings.effects += happened.size;
    for (const [key, status] of calls[effect]) {
      if (status === "success" && !happened.has(key)) findings.wrong.push(`${effect} ${key} never happened`);
      if (status !== "success" && status !== "open") findings.wrong.push(`${effect} ${key} ended as ${status}`);
    }
    for (const [key, times] of happened) {
      if (effect === "once" && times !== 1) findings.wrong.push(`${effect} ${key} happened ${times} times`);
      if (!calls[effect].has(key)) findings.wrong.push(`${effect} ${key} happened and the log does not say so`);
    }
  }
}
