// What steps and session use cases are given: ports and the store. Composition roots (lambdas/wire.ts,
// lib/local) fill it; nothing below chooses an adapter.
import type { Agent } from "../core/define-flow.ts";
import { AgentChanged } from "../core/errors.ts";
import type { Prices } from "../core/prices.ts";
import type { ApprovalMails } from "../ports/approval-mails.ts";
import type { Clock, Ids, Log } from "../ports/clock.ts";
import type { Embeddings } from "../ports/embeddings.ts";
import type { Live } from "../ports/live.ts";
import type { Mailer } from "../ports/mailer.ts";
import type { Model } from "../ports/model.ts";
import type { Orchestrator } from "../ports/orchestrator.ts";
import type { Signer } from "../ports/signer.ts";
import type { Webhooks } from "../ports/webhooks.ts";
import type { Store } from "../store/index.ts";

export type Deps = {
  store: Store;
  /** By name; the first is the default. */
  agents: ReadonlyMap<string, Agent>;
  model: Model;
  /** For agents whose memory compares by meaning (`requireEmbeddings`). @default none */
  embeddings?: Embeddings;
  orchestrator: Orchestrator;
  clock: Clock;
  ids: Ids;
  log: Log;
  live: Live;
  mailer: Mailer;
  approvalMails: ApprovalMails;
  /** Answers pushed to URLs. */
  webhooks: Webhooks;
  /** Derives link secrets, page nonces and codes. */
  signer: Signer;
  /** Where people reach this runtime: base of mailed links, without a path. */
  publicUrl: () => string;
  /** Aborted when the process must stop soon; running tools see it as their signal. */
  stopping: AbortSignal;
  /** What model calls cost. @default the table of lib/core/price-table.ts */
  prices?: Prices;
  /** Model replies in one execution before the turn goes on in a new one. @default 200 */
  roundsPerSegment?: number;
};

/** The session's agent; `AgentChanged` when this deployment no longer has it. */
export function agentOf(deps: Pick<Deps, "agents">, name: string): Agent {
  const agent = deps.agents.get(name);
  if (agent) return agent;
  const known = [...deps.agents.keys()].join(", ");
  throw new AgentChanged(`the session belongs to agent "${name}"; this runtime has: ${known || "none"}`);
}
