// What one question to a person costs, and that a long wait costs no more than a short one. Counted on a clock that
// is moved by hand, with the sweeper passing every quarter of an hour.
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { defineAgent } from "../../lib/core/define-agent.ts";
import { defineTool } from "../../lib/core/define-tool.ts";
import type { Mail } from "../../lib/ports/mailer.ts";
import { decideApproval } from "../../lib/sessions/approvals/decide-approval.ts";
import { listSessionApprovals } from "../../lib/sessions/approvals/list-approvals.ts";
import { embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { scriptedModel } from "../../lib/testing/scripted-model.ts";
import type { Row } from "../context.ts";
import { measureTable } from "../measuring-table.ts";

const quarterMs = 15 * 60_000;
const hourMs = 4 * quarterMs;
/** Usage is booked by day: from here on both waits end on another day than they began. */
const beforeMidnight = Date.UTC(2026, 10, 30, 23, 30);
const approver = "ann@bank.example";
/** The question is asked after some turns of the event loop; more than this many mean that it never is. */
const mostTurns = 10_000;

export const approval: Row = {
  name: "approval",
  about: "transitions, writes and mails of one approval, decided after 1 hour and after 7 days",
  async run(context) {
    context.say("an approval of one hour, and of seven days");
    const waits = [
      { name: "1 h", ms: hourMs },
      { name: "7 d", ms: 7 * 24 * hourMs },
    ];
    const figures = [];
    for (const { name, ms } of waits) {
      const cost = await ask(ms);
      figures.push(
        { name: `approval after ${name}, transitions`, value: cost.transitions, unit: "", note: "the whole turn" },
        { name: `approval after ${name}, writes`, value: cost.writes, unit: "" },
        { name: `approval after ${name}, write units`, value: cost.writeUnits, unit: "WRU" },
        { name: `approval after ${name}, mails`, value: cost.mails, unit: "" },
      );
    }
    return figures;
  },
};

async function ask(waitMs: number) {
  const clock = fakeClock({ start: beforeMidnight });
  const table = measureTable(createMemoryTable({ now: () => clock.now() }));
  const mails: Mail[] = [];
  let transitions = 0;
  const runtime = embed({
    agents: [clerk],
    model: scriptedModel([{ calls: [{ name: "file", input: { id: 1 } }] }, { text: "Filed." }]),
    table,
    clock,
    mailer: { destination: "bench", send: async (mail) => void mails.push(mail) },
    onEvent: (event) => {
      if (event.kind === "entered") transitions += 1;
    },
  });
  const { deps } = runtime;
  const tenant = "acme";
  const { sessionId } = await runtime.send("File it.");
  const pending = () => listSessionApprovals(deps, tenant, sessionId, "pending");
  for (let turn = 0; mails.length === 0 || (await pending()).length === 0; turn++) {
    if (turn > mostTurns) throw new Error("nobody was asked");
    await setImmediate();
  }
  for (let waited = 0; waited < waitMs; waited += quarterMs) {
    await clock.advance(quarterMs);
    await runtime.sweep();
  }
  const [asked] = await pending();
  if (!asked) throw new Error("the approval did not outlast the wait");
  const request = { by: approver, decision: "approve", via: "signin", shownHash: asked.inputHash } as const;
  await decideApproval(deps, { tenant, id: asked.id }, request);
  await runtime.idle();
  const head = await deps.store.log.head(tenant, sessionId);
  if (head?.state.lastTurn?.status !== "completed") throw new Error("the turn did not end after the decision");
  const { writes, writeUnits } = table.units();
  return { transitions, writes, writeUnits, mails: mails.length };
}

const clerk = defineAgent({
  name: "clerk",
  instructions: "File it.",
  model: { id: "bench-model" },
  tools: [
    defineTool({
      name: "file",
      description: "Files a report.",
      input: z.object({ id: z.int() }),
      effect: "once",
      approval: { approvers: [approver], expiresIn: "10d" },
      run: ({ id }) => ({ receipt: `R-${id}` }),
    }),
  ],
});
