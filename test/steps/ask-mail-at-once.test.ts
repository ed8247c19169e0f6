// The mail goes out in the visit that asks, also on a clock that moves between two looks at it.
import { defineAgent, defineTool } from "baton";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { Mail } from "../../lib/ports/mailer.ts";
import { embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";

describe("ask", () => {
  it.each([1, -1])("mails at once when each look at the clock is %i ms later", async (step) => {
    const clock = fakeClock();
    const ticking = {
      ...clock,
      now: () => {
        clock.set(clock.now() + step);
        return clock.now();
      },
    };
    const file = defineTool({
      name: "file",
      description: "files a report",
      input: z.object({}),
      effect: "once",
      approval: { approvers: ["ann@bank.example"] },
      run: () => "filed",
    });
    const first = Promise.withResolvers<Mail>();
    const runtime = embed({
      agents: [defineAgent({ name: "filer", instructions: "File.", model: { id: "scripted" }, tools: [file] })],
      model: replayModel([{ calls: [{ name: "file" }] }]),
      clock: ticking,
      mailer: { destination: "test", send: async (mail) => first.resolve(mail) },
    });
    const { sessionId } = await runtime.send("go");
    const { to, subject } = await first.promise;
    expect(to).toBe("ann@bank.example");
    expect(subject).toContain("file");
    const head = await runtime.deps.store.log.head("acme", sessionId);
    expect(head?.state.turn?.calls).toMatchObject([{ status: "asking", approval: "pending" }]);
    await runtime.stop(0);
  });
});
