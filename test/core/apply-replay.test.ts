// The log is the session: replaying its events through apply gives every stored snapshot again.
import { describe, expect, it } from "vitest";
import { apply } from "../../lib/core/apply.ts";
import type { SessionState } from "../../lib/core/state.ts";
import { rollbackSession } from "../../lib/sessions/time-travel/rollback-session.ts";
import { type Embedded, embed } from "../../lib/testing/embed.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";
import { newWitness, relayAgent, relayFlow, relayFlowScript, relayScript } from "../support/relay-agent.ts";

async function expectReplayed(runtime: Embedded, sessionId: string): Promise<number> {
  const log = await runtime.deps.store.log.events("acme", sessionId, 0);
  const states = new Map<number, SessionState>();
  let state: SessionState | null = null;
  for (const { event, version, at, state: stored } of log) {
    const target = event.type === "rolled.back" ? states.get(event.to) : undefined;
    state = apply(state, event, { version, at }, target);
    expect({ version, state: JSON.parse(JSON.stringify(state)) }).toEqual({
      version,
      state: JSON.parse(JSON.stringify(stored)),
    });
    states.set(version, state);
  }
  return log.length;
}

describe("apply", () => {
  it("gives the snapshots of a model session again, a rollback included", async () => {
    const runtime = embed({ agents: [relayAgent(newWitness())], model: replayModel(relayScript) });
    const { sessionId } = await runtime.send("go");
    await runtime.idle();
    await rollbackSession(runtime.deps, { tenant: "acme", sessionId, user: "ann" }, { version: 1 });
    await runtime.send("go");
    await runtime.idle();
    expect(await expectReplayed(runtime, sessionId)).toBeGreaterThan(30);
  });

  it("gives the snapshots of a flow again", async () => {
    const runtime = embed({ agents: [relayFlow(newWitness())], model: replayModel(relayFlowScript) });
    const { sessionId } = await runtime.send("go");
    await runtime.idle();
    expect(await expectReplayed(runtime, sessionId)).toBeGreaterThan(12);
  });
});
