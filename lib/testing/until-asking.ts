// How far an embedded runtime comes by itself: until nothing runs, or until people are needed. Then a test's people
// decide.
import { InvalidInput } from "../core/errors.ts";
import { turnStatus } from "../core/state.ts";
import type { ApprovalView } from "../sessions/approvals/approval-view.ts";
import { decideApproval } from "../sessions/approvals/decide-approval.ts";
import { listSessionApprovals } from "../sessions/approvals/list-approvals.ts";
import type { Embedded } from "./embed.ts";

export type TestDecision = {
  decision: "approve" | "reject" | "happened" | "not_happened" | "give_up";
  comment?: string;
  /** @default the first approver who has not decided yet */
  by?: string;
};

/** Asked whenever the agent waits for people, once for each decision that is needed. */
export type Decide = (approval: ApprovalView) => TestDecision;

type Place = {
  tenant: string;
  sessionId: string /** Resolves when waiting has no point any more. */;
  died?: Promise<void>;
};

/**
 * Lets the runtime run, and the people of `decide` decide, until nothing is left to do: answers []; or what people are asked
 * and nobody decides. A refused decision throws `InvalidInput`.
 */
export async function untilAsking(embedded: Embedded, at: Place, decide?: Decide): Promise<ApprovalView[]> {
  for (;;) {
    const waiting = await untilIdleOrAsking(embedded, at);
    if (waiting.length === 0 || !decide) return waiting;
    for (const approval of waiting) await decideAs(embedded, at.tenant, approval, decide(approval));
    await carryOut(embedded, at);
  }
}

/** A decision whose release was lost is the sweeper's to carry out, and no sweeper runs by itself here. */
async function carryOut(embedded: Embedded, { tenant, sessionId }: Place): Promise<void> {
  for (let sweeps = 0; sweeps < 5; sweeps++) {
    const all = await embedded.deps.store.approvals.ofSession(tenant, sessionId);
    if (all.every(({ approval, released }) => approval.status === "pending" || released)) return;
    await embedded.sweep();
  }
}

/** An open approval keeps its execution running, so being idle is not enough. */
async function untilIdleOrAsking(embedded: Embedded, { tenant, sessionId, died }: Place): Promise<ApprovalView[]> {
  const { deps } = embedded;
  let changed = Promise.withResolvers<void>();
  const unsubscribe = deps.live.subscribe(tenant, sessionId, () => changed.resolve());
  const over = Promise.race([embedded.idle(), ...(died ? [died] : [])]).then(() => "over" as const);
  try {
    for (;;) {
      changed = Promise.withResolvers<void>();
      const head = await deps.store.log.head(tenant, sessionId);
      if (head?.state.turn && turnStatus(head.state) === "waiting_for_input") {
        const pending = await listSessionApprovals(deps, tenant, sessionId, "pending");
        if (pending.length > 0) return pending;
      }
      if ((await Promise.race([over, changed.promise])) === "over") return [];
    }
  } finally {
    unsubscribe();
  }
}

async function decideAs(
  { deps }: Embedded,
  tenant: string,
  approval: ApprovalView,
  given: TestDecision,
): Promise<void> {
  const decided = new Set(approval.decisions.map(({ by }) => by));
  const by = given.by ?? approval.approvers.find((person) => !decided.has(person)) ?? "";
  const { decision, comment } = given;
  const outcome = await decideApproval(
    deps,
    { tenant, id: approval.id },
    { by, decision, via: "signin", shownHash: approval.inputHash, ...(comment === undefined ? {} : { comment }) },
  );
  if (outcome.kind === "refused" || outcome.kind === "already") {
    throw new InvalidInput(`${decision} by "${by}" on ${approval.tool} was not taken: ${outcome.reason}`);
  }
}
