// A real process tree in which one session's tool kills the worker with SIGKILL each time it runs, while others work:
// the killer ends suspended with its name, the others complete, and its conversation goes on clean.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type RuntimeProcess, startRuntime, until } from "../../lib/cli/demo/runtime-process.ts";

const crawlers = 5;
const waitMs = 100_000;

type Session = { status: string; suspended?: { cause: string } };
type Tree = { session: Session; turns: { answer?: string }[] };
type Accepted = { sessionId: string; turn: number; notice?: { reason: string } };

describe("a tool that kills the worker each time", () => {
  let runtime: RuntimeProcess | undefined;
  const data = mkdtempSync(join(tmpdir(), "baton-killer-"));
  afterEach(async () => {
    await runtime?.stop();
    rmSync(data, { recursive: true, force: true });
  });

  it("suspends its own session and no other, and its conversation goes on in a clean one (H26)", {
    timeout: 120_000,
  }, async () => {
    const agents = ["crawler", "killer"].map((name) => join(import.meta.dirname, `${name}-agent.ts`));
    const running = await startRuntime({ data, env: { BATON_AGENT: agents.join(","), BATON_MODEL: "demo" } });
    runtime = running;
    const send = (agent: string, text: string) => {
      const body = { key: `agent:${agent}:e2e:dm:${agent === "killer" ? 0 : text}`, text, agent };
      return running.call<Accepted>("/v1/messages", { body, key: `${agent}-${text}` });
    };
    const tree = (id: string) => running.call<Tree>(`/v1/sessions/${id}`);
    const innocent = await Promise.all(Array.from({ length: crawlers }, (_, n) => send("crawler", `${n}`)));
    const { sessionId: killer } = await send("killer", "detonate");
    await until(async () => (await tree(killer)).session.status === "suspended", waitMs, "the killer to be suspended");
    expect((await tree(killer)).session.suspended?.cause).toBe("gave up after 3 recoveries while running detonate");

    for (const [n, { sessionId }] of innocent.entries()) {
      await until(async () => (await tree(sessionId)).session.status !== "running", waitMs, `crawler ${n}`);
      const { session, turns } = await tree(sessionId);
      const answers = turns.map(({ answer }) => answer);
      expect({ n, status: session.status, answers }).toEqual({ n, status: "completed", answers: [`${n}: 3`] });
    }
    const fresh = await send("killer", "hello");
    expect(fresh).toMatchObject({ turn: 1, notice: { reason: "suspended" } });
    await until(async () => (await tree(fresh.sessionId)).session.status === "completed", waitMs, "the next session");
    const asked = await send("killer", "/new");
    expect((await tree(asked.sessionId)).session.status).toBe("created");
  });
});
