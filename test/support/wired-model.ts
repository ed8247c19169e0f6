// The real adapter over the wire to the demo model server with a script, under the real steps and machine: what a hazard
// of the model does to a session. Time is the test's.

import { createAnthropicModel } from "../../lib/adapters/anthropic.ts";
import type { Checkpoint } from "../../lib/core/checkpoint.ts";
import type { Agent } from "../../lib/core/define-flow.ts";
import type { EventOf, EventType } from "../../lib/core/event.ts";
import type { ScriptLine } from "../../lib/demo-model/script-line.ts";
import { createDemoModelServer, type DemoModelServer } from "../../lib/demo-model/server.ts";
import { type Settled, settledTurn } from "../../lib/sessions/wait.ts";
import { type Embedded, type EmbedOptions, embed } from "../../lib/testing/embed.ts";
import { type FakeClock, fakeClock } from "../../lib/testing/fake-clock.ts";

export type Wired = Embedded & {
  server: DemoModelServer;
  clock: FakeClock;
  /** How often each state of the machine was entered. */
  entered: Record<string, number>;
  /** What somebody who watches saw: text as it came, joined between two committed versions. */
  shown: string[];
  turn(text: string, options?: Parameters<Embedded["send"]>[1]): Promise<{ sessionId: string; end: Settled | null }>;
  log(sessionId: string): Promise<Checkpoint[]>;
  events<T extends EventType>(sessionId: string, type: T): Promise<(EventOf<T> & { at: number })[]>;
  close(): Promise<void>;
};

export async function wired(
  agents: Agent[],
  script: readonly ScriptLine[],
  options: Partial<EmbedOptions> & { server?: DemoModelServer; timeoutMs?: number } = {},
): Promise<Wired> {
  const server = options.server ?? (await createDemoModelServer({ script }));
  const clock = fakeClock();
  const entered: Record<string, number> = {};
  const shown: string[] = [];
  const embedded = embed({
    agents,
    clock,
    model: createAnthropicModel({
      apiKey: "test",
      baseURL: server.url,
      ...(options.timeoutMs ? { timeoutMs: options.timeoutMs } : {}),
    }),
    onEvent: (event) => {
      if (event.kind === "entered") entered[event.state] = (entered[event.state] ?? 0) + 1;
    },
    ...options,
  });
  const log = (sessionId: string) => embedded.deps.store.log.events("acme", sessionId, 0);
  return {
    ...embedded,
    clock,
    server,
    entered,
    shown,
    log,
    async turn(text, more = {}) {
      const { sessionId, turn } = await embedded.send(text, more);
      const stop = embedded.deps.live.subscribe("acme", sessionId, (message) => {
        if (message.kind === "version") shown.push("");
        else if (message.kind === "text") shown.push((shown.pop() ?? "") + message.text);
      });
      await embedded.idle();
      stop();
      return { sessionId, end: await settledTurn(embedded.deps, "acme", sessionId, turn) };
    },
    async events(sessionId, type) {
      const found = await log(sessionId);
      return found.flatMap(({ event, at }) => (event.type === type ? [{ ...event, at } as never] : []));
    },
    close: () => server.close(),
  };
}
