// For authors' tests: a whole conversation with an agent in one call, over the real steps, machine and store in memory.
// Time is fake: waiting for a model that asks for patience takes none.
import type { Agent } from "../core/define-flow.ts";
import { InvalidInput } from "../core/errors.ts";
import type { CallOutcome, EndReason, Event } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { type SessionStatus, sessionStatus } from "../core/state.ts";
import type { ScriptLine } from "../demo-model/script-line.ts";
import type { Model } from "../ports/model.ts";
import type { ApprovalView } from "../sessions/approvals/approval-view.ts";
import { sweepDue } from "../sessions/sweep.ts";
import { type Embedded, embed } from "./embed.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import { scriptedModel } from "./scripted-model.ts";
import { type Decide, untilAsking } from "./until-asking.ts";
import { withTools } from "./with-tools.ts";

export type RunToEndOptions = {
  /** Sent one after the other, each when the turn before it has ended. @default ["go"] */
  messages?: string[];
  /** Asked whenever the agent waits for people. @default nobody decides: the run ends there, see `waiting` */
  decide?: Decide;
  roundsPerSegment?: number;
};

/** `input` is what ran: as an approver changed it, else as the model asked for it. */
export type EndedCall = { tool: string; input: Json; outcome: CallOutcome };

export type EndedRun = {
  sessionId: string;
  /** Of the last session, should a reset have happened. */
  status: SessionStatus;
  /** What the user was told, one a turn, and why each turn ended. */
  answers: string[];
  endReasons: EndReason[];
  /** Tool calls in the order in which they ended. */
  calls: EndedCall[];
  /** How often each call's body ran to its end, by idempotency key. */
  effects: Record<string, number>;
  /** Approvals that nobody decided. The run has ended there. */
  waiting: ApprovalView[];
  /** The log of the session. */
  events: Event[];
};

/**
 * Sends `messages` to `agent` and answers what came of them. `model`: lines for `scriptedModel`, or any model. The tools
 * really run: give them a stand-in for the outside world. Throws `InvalidInput` when the lines run out.
 */
export async function runToEnd(
  agent: Agent,
  model: readonly ScriptLine[] | Model,
  options: RunToEndOptions = {},
): Promise<EndedRun> {
  const effects: Record<string, number> = {};
  const counted = withTools(agent, (tool) => ({
    ...tool,
    run: async (input, ctx) => {
      const output = await tool.run(input, ctx);
      effects[ctx.idempotencyKey] = (effects[ctx.idempotencyKey] ?? 0) + 1;
      return output;
    },
  }));
  const script = isScript(model) ? scriptedModel(model) : null;
  const clock = fakeClock();
  const embedded = embed({
    agents: [counted],
    model: script ?? (model as Model),
    clock,
    // The machine's Wait state takes no time here, so the clock is moved by the most that one wait lasts.
    onEvent: (event) => {
      if (event.kind === "entered" && event.state === "Wait") void clock.advance(60_000);
    },
    ...(options.roundsPerSegment === undefined ? {} : { roundsPerSegment: options.roundsPerSegment }),
  });
  try {
    let sessionId = "";
    let waiting: ApprovalView[] = [];
    for (const message of options.messages ?? ["go"]) {
      ({ sessionId } = await embedded.send(message));
      waiting = await untilEnded(embedded, clock, sessionId, options.decide);
      if (waiting.length > 0) break;
    }
    if (script && script.left() < 0) {
      throw new InvalidInput(
        `the script has ${script.requests.length + script.left()} lines, and the agent asked ${script.requests.length} times: add lines`,
      );
    }
    return { sessionId, effects, waiting, ...(await told(embedded, sessionId)) };
  } finally {
    await embedded.stop(0);
  }
}

function isScript(model: readonly ScriptLine[] | Model): model is readonly ScriptLine[] {
  return Array.isArray(model);
}

const tenant = "acme";

/** Answers the approvals that nobody decides; none: the turn has ended. */
async function untilEnded(
  embedded: Embedded,
  clock: FakeClock,
  sessionId: string,
  decide: Decide | undefined,
): Promise<ApprovalView[]> {
  const { deps } = embedded;
  for (let slot = 0; ; slot++) {
    const waiting = await untilAsking(embedded, { tenant, sessionId }, decide);
    if (waiting.length > 0) return waiting;
    const turn = (await deps.store.log.head(tenant, sessionId))?.state.turn;
    if (!turn) return [];
    // A wait longer than the machine's own: the sweeper goes on when it is due.
    const at = turn.retry?.at;
    if (at === undefined) throw new Error(`turn ${turn.turn} stands still in phase ${turn.phase}`);
    await clock.advance(Math.max(0, at - clock.now()));
    await sweepDue(deps, { before: clock.now(), cause: "due", slot: `${slot}` });
  }
}

async function told(
  { deps }: Embedded,
  sessionId: string,
): Promise<Pick<EndedRun, "status" | "answers" | "endReasons" | "calls" | "events">> {
  const checkpoints = await deps.store.log.events(tenant, sessionId, 0);
  const events = checkpoints.map(({ event }) => event);
  const inputs = new Map<string, Json>();
  const calls: EndedCall[] = [];
  const ends = events.filter((event) => event.type === "turn.finished" || event.type === "turn.failed");
  for (const event of events) {
    // Rounds are counted by turn, so a later turn overwrites what an earlier one left here.
    if (event.type === "model.replied" || event.type === "flow.planned") {
      const asked = event.content.filter((block) => block.type === "call");
      asked.forEach(({ input }, index) => void inputs.set(`${event.round}/${index}`, input));
    }
    if (event.type === "call.started") inputs.set(`${event.round}/${event.index}`, event.input);
    if (event.type !== "call.finished") continue;
    calls.push({
      tool: event.tool,
      input: inputs.get(`${event.round}/${event.index}`) ?? {},
      outcome: event.outcome,
    });
  }
  const last = checkpoints.at(-1);
  return {
    status: last ? sessionStatus(last.state) : "created",
    answers: ends.map(({ answer }) => answer),
    endReasons: ends.map(({ endReason }) => endReason),
    calls,
    events,
  };
}
