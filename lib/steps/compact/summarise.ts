// One attempt at a summary: cut, ask the summariser part by part, carry the records over, check. Answers the event to
// append, done or refused; writes nothing.
import { carryOver } from "../../core/compaction/carry-over.ts";
import { type Cut, chooseCut } from "../../core/compaction/choose-cut.ts";
import { readSummary, type SummaryRecord } from "../../core/compaction/summary-record.ts";
import { summaryRequest } from "../../core/compaction/summary-request.ts";
import { latestUserMessage, validateSummary } from "../../core/compaction/validate-summary.ts";
import { noUsage, type Usage } from "../../core/content.ts";
import { createWindow } from "../../core/context/create-window.ts";
import type { LoggedEvent } from "../../core/context/logged-event.ts";
import { languageOfTurn } from "../../core/context/messages-from-events.ts";
import type { ModelAgent } from "../../core/define-agent.ts";
import { type BatonError, toErrorRecord } from "../../core/errors.ts";
import { contextBudget, estimateTokens } from "../../core/estimate.ts";
import type { EventOf } from "../../core/event.ts";
import type { HandoffRecord } from "../../core/handoff.ts";
import { handoffFromJournal } from "../../core/handoff-from-journal.ts";
import type { Head } from "../../store/log.ts";
import type { PaidReply } from "../budget/paid-reply.ts";
import type { Deps } from "../deps.ts";
import { askSummariser, type SummaryAnswer } from "./ask-summariser.ts";

export type Attempt = { event: EventOf<"compaction.done"> | EventOf<"compaction.refused"> };

export type SummaryTask = { head: Head; agent: ModelAgent; handoff: HandoffRecord; cause: string };

/** After a summary that was not good enough, or a model that could not be asked and did not say for how long. */
const backOffMs = 5 * 60_000;

/** Share of the budget that the kept tail may have, and its most tokens. */
const tail = { share: 0.2, maxTokens: 20_000 };

export async function summarise(deps: Deps, task: SummaryTask): Promise<Attempt> {
  const { head, agent, handoff, cause } = task;
  const now = deps.clock.now();
  const history = await readHistory(deps, head);
  const budget = contextBudget(agent.model);
  const plan = { windowTokens: agent.model.summarizerWindowTokens };
  const carriedTokens = estimateTokens(JSON.stringify([history.previous?.carried ?? {}, handoff]));
  const cut = chooseCut(history.events, {
    keepTokens: Math.min(tail.maxTokens, Math.floor(budget * tail.share)),
    stubTokens: Math.max(200, Math.floor(budget / 20)),
    summaryTokens: Math.min(minWorthTokens, Math.floor(budget / 10)) + carriedTokens,
  });
  if (cut.kind === "none") return refused(cause, cut.why, "there is no part to summarise", now + backOffMs);

  const spent: Spent = { usage: noUsage, usdMicros: 0 };
  try {
    const request = summaryRequest(cut.replaced, plan, { language: languageOf(history.events) });
    const answer = await askSummariser(deps, agent, request, {
      head,
      soFar: history.previous?.narrative,
      spend: (reply) => spend(spent, reply),
    });
    return verdict({ task, cut, history, answer, spent, now: deps.clock.now() });
  } catch (error) {
    // The process is told to stop: nothing has changed, and the next owner decides anew.
    if (deps.stopping.aborted) throw error;
    const { name, code, message } = toErrorRecord(error);
    deps.log.warn("summary call failed", { sessionId: head.sessionId, error: name });
    const notBefore = deps.clock.now() + ((error as Partial<BatonError>).retryAfterMs ?? backOffMs);
    return {
      event: { type: "compaction.refused", error: { name, code, message }, notBefore, cause, ...spent },
    };
  }
}

/** A refusal as an event that costs nothing more than `spent`. A request that was answered holds nothing back. */
export function refusalOf(cause: string, why: string, message: string, spent: Partial<Spent> = {}): Attempt {
  const { usage = noUsage, usdMicros = 0 } = spent;
  return refused(cause, why, message, 0, { usage, usdMicros });
}

/** `model`: the one that answered. */
type Spent = { usage: Usage; usdMicros: number; model?: string };

/** Less than this is not worth a call. */
const minWorthTokens = 1000;

type History = { events: LoggedEvent[]; previous?: SummaryRecord };

/** Everything since the last cut, in order. */
async function readHistory(deps: Deps, { tenant, sessionId, version }: Head): Promise<History> {
  const window = createWindow({ strategy: "full-replay", budgetTokens: Number.POSITIVE_INFINITY });
  for await (const checkpoint of deps.store.log.lineage(tenant, sessionId, version)) {
    if (window.add(checkpoint.event, checkpoint.version) === "enough") break;
  }
  const { events, summary } = window.result();
  return { events, ...(summary ? { previous: readSummary(summary.event.summary) } : {}) };
}

function verdict(found: {
  task: SummaryTask;
  cut: Cut;
  history: History;
  answer: SummaryAnswer;
  spent: Spent;
  now: number;
}): Attempt {
  const { task, cut, history, answer, spent, now } = found;
  const { head, handoff, agent, cause } = task;
  const { previous } = history;
  const openTurnVersion = head.state.turn?.startedVersion;
  const carried = carryOver({
    ...(previous ? { previous } : {}),
    ...(head.state.marks.handoff === undefined ? {} : { handoff }),
    journal: handoffFromJournal(cut.replaced, previous?.turns.to ?? 0),
  });
  const checked = validateSummary(answer, {
    cut,
    carried,
    constraints: handoff.constraints,
    latestUser: latestUserMessage(cut, openTurnVersion),
    ...(openTurnVersion === undefined ? {} : { openTurnVersion }),
  });
  if (!checked.ok) return refused(cause, checked.reason, checked.message, now + backOffMs, spent);
  const { from, to } = cut;
  const summary = {
    ...checked.record,
    turns: { from: previous?.turns.from || checked.record.turns.from, to: lastTurn(checked.record, previous) },
  };
  return { event: { type: "compaction.done", from, to, summary, model: agent.model.summarizer, cause, ...spent } };
}

function lastTurn(record: SummaryRecord, previous: SummaryRecord | undefined): number {
  return Math.max(record.turns.to, previous?.turns.to ?? 0);
}

function refused(cause: string, why: string, message: string, notBefore: number, spent?: Spent): Attempt {
  const error = { name: "CompactionRefused", code: `compaction.${why}`, message };
  return {
    event: { type: "compaction.refused", error, notBefore, cause, ...(spent ?? { usage: noUsage, usdMicros: 0 }) },
  };
}

function spend(spent: Spent, { usage, usdMicros, model }: PaidReply): void {
  spent.usdMicros += usdMicros;
  spent.model = model;
  spent.usage = {
    inputTokens: spent.usage.inputTokens + usage.inputTokens,
    outputTokens: spent.usage.outputTokens + usage.outputTokens,
    cacheReadTokens: spent.usage.cacheReadTokens + usage.cacheReadTokens,
    cacheWriteTokens: spent.usage.cacheWriteTokens + usage.cacheWriteTokens,
  };
}

function languageOf(events: readonly LoggedEvent[]): string {
  return languageOfTurn(events.findLast(({ event }) => event.type === "turn.started")?.event) ?? "en";
}
