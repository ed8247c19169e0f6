import { afterEach, describe, expect, it } from "vitest";
import { runNow } from "../../lib/batch/run-now.ts";
import type { ReplyLine } from "../../lib/demo-model/script-line.ts";
import type { Webhooks } from "../../lib/ports/webhooks.ts";
import { forkSession } from "../../lib/sessions/time-travel/fork-session.ts";
import { rollbackSession } from "../../lib/sessions/time-travel/rollback-session.ts";
import { nameExecution } from "../../lib/steps/run.ts";
import { crashAt, crashPoints } from "../../lib/testing/crash-points.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { scriptedModel } from "../../lib/testing/scripted-model.ts";
import { define, runsOf, taskWorld } from "../batch/task-world.ts";
import {
  call,
  eventsOf,
  newSite,
  ofType,
  planOf,
  projectAgent,
  turnsOf,
  wellPlayed,
} from "../support/project-agent.ts";

import { built, type Play, plan, play, projectOf, start, stopAll } from "../support/project-play.ts";

afterEach(stopAll);

describe("people and a project", () => {
  it("stops at the next step when told to, starts nothing more, and goes on when resumed", async () => {
    const game: Play = start([...plan("a"), { calls: [call("build", "a")] }, ...built("a", 4)], {
      onAsk: async (n) => (n === 3 ? game.embedded.send("/stop") : null),
    });
    const { sessionId, events } = await play(game);
    expect(turnsOf(events)).toEqual(["initializer: completed", "worker a 1: stopped"]);
    await game.embedded.boot();
    await game.embedded.idle();
    expect(await projectOf(game.embedded, sessionId)).toMatchObject({ status: "halted", next: "a" });
    await game.embedded.send("/resume");
    await game.embedded.idle();
    expect(turnsOf(await eventsOf(game.embedded, sessionId)).slice(2)).toEqual(["worker a 1: completed"]);
  });

  it("answers a user's message in a turn of its own and then goes on", async () => {
    const lines = [...plan("a", "b"), ...built("a", 3), { text: "It goes well." }, ...built("b", 9)];
    const game: Play = start(lines, { onAsk: async (n) => (n === 3 ? game.embedded.send("How is it going?") : null) });
    const { events } = await play(game);
    expect(turnsOf(events)).toEqual([
      "initializer: completed",
      "worker a 1: completed",
      "talk: completed",
      "worker b 1: completed",
    ]);
  });

  it("lets a user steer the turn that runs", async () => {
    const game: Play = start([...plan("a"), ...built("a", 3)], {
      onAsk: async (n) => (n === 4 ? game.embedded.send("In blue, please.", { busy: "steer" }) : null),
    });
    const { events } = await play(game);
    expect(turnsOf(events)).toEqual(["initializer: completed", "worker a 1: completed"]);
    expect(JSON.stringify(game.model.requests[4]?.messages)).toContain("In blue, please.");
  });

  it("takes a new wish as a new feature at the end of the list", async () => {
    const game = start([
      ...plan("a"),
      ...built("a", 3),
      { calls: [planOf("b")] },
      { text: "Added." },
      ...built("b", 10),
    ]);
    const { sessionId } = await play(game);
    const { events } = await play(game, "Also b, please.");
    expect(turnsOf(events).slice(2)).toEqual(["talk: completed", "worker b 1: completed"]);
    expect((await projectOf(game.embedded, sessionId))?.status).toBe("passed");
  });

  it("is blocked at once when the worker says that it cannot go on, and goes on when the user has answered", async () => {
    const blocked = { name: "update_progress", input: { blocked: ["which colour?"] } };
    const cleared = { name: "update_progress", input: { blocked: [] } };
    const game = start([
      ...plan("a"),
      { calls: [blocked] },
      { text: "Which colour?" },
      { calls: [cleared] },
      { text: "Blue it is." },
      ...built("a", 7),
    ]);
    const first = await play(game);
    expect(turnsOf(first.events)).toEqual(["initializer: completed", "worker a 1: not_verified"]);
    expect(await projectOf(game.embedded, first.sessionId)).toMatchObject({ status: "blocked", next: "a" });
    const { events } = await play(game, "Blue.");
    expect(turnsOf(events).slice(2)).toEqual(["talk: completed", "worker a 1: completed"]);
  });

  it("stands still when its budget is used up, and says so", async () => {
    const limits = { tokensPerSession: 8000 };
    const model = { id: "m", maxTokens: 200 };
    const lines = [...plan("a"), ...Array<ReplyLine>(20).fill({ text: "x" })];
    const game = start(lines, { agent: { limits, model, project: { checks: ["check"], attempts: 20 } } });
    const { sessionId, events } = await play(game);
    expect(turnsOf(events).at(-1)).toMatch(/^worker a \d+: budget_exceeded$/);
    expect(ofType(events, "turn.finished").at(-1)?.answer).toContain("The work stands still; write again to go on.");
    expect((await projectOf(game.embedded, sessionId))?.status).toBe("halted");
  });

  it("delivers the plan and the end, not every turn between", async () => {
    const sent: string[] = [];
    const webhooks: Webhooks = {
      check: () => {},
      secretOf: () => "",
      send: async ({ body }: { body: string }) => {
        sent.push((JSON.parse(body) as { data: { answer: string } }).data.answer);
        return { outcome: "accepted" };
      },
    };
    const game = start([...plan("a", "b"), ...built("a", 3), ...built("b", 8)], { embed: { webhooks } });
    await game.embedded.send("make it", { deliverTo: { webhook: "http://127.0.0.1:1/hook" } });
    await game.embedded.idle();
    expect(sent).toEqual([expect.stringContaining("Planned."), expect.stringContaining("All 2 features pass.")]);
  });

  it("goes back with the session, and waits there for its user", async () => {
    const game = start([...plan("a", "b"), ...built("a", 3), ...built("b", 8), { text: "Again." }, ...built("b", 14)]);
    const { sessionId } = await play(game);
    const { deps } = game.embedded;
    const log = await deps.store.log.events("acme", sessionId, 0);
    const before = log.find(({ event }) => event.type === "turn.started" && event.turn === 3);
    const at = { tenant: "acme", sessionId, user: "ann" };
    await rollbackSession(deps, at, { version: (before?.version ?? 0) - 1 });
    await game.embedded.boot();
    await game.embedded.idle();
    expect(await projectOf(game.embedded, sessionId)).toMatchObject({ status: "halted", passing: 1, next: "b" });
    const { events } = await play(game, "Go on.");
    expect(turnsOf(events).slice(3)).toEqual(["talk: completed", "worker b 1: completed"]);
  });

  it("does not run by itself in a fork, which would work in the same place", async () => {
    const game = start([...plan("a", "b"), ...built("a", 3), ...built("b", 8)]);
    const { sessionId } = await play(game);
    const { deps } = game.embedded;
    const log = await deps.store.log.events("acme", sessionId, 0);
    const end = log.find(({ event }) => event.type === "turn.finished" && event.turn === 2);
    const fork = await forkSession(deps, { tenant: "acme", sessionId, user: "ann" }, { version: end?.version ?? 0 });
    await game.embedded.boot();
    await game.embedded.idle();
    const head = await deps.store.log.head("acme", fork.sessionId);
    expect(head?.state).toMatchObject({ turns: 0, project: { status: "halted", passing: 1, next: "b" } });
  });
});

describe("a project as a batch task", () => {
  it.each([
    ["passes", [...plan("a"), ...built("a", 3)], { outcome: "completed", endReason: "completed" }],
    ["is blocked", [...plan("a"), { text: "Done." }, { text: "Done." }], { outcome: "error", endReason: "blocked" }],
  ])("is one run, which ends when the project %s", async (_name, lines, end) => {
    const world = taskWorld("2026-11-30T06:00:00Z");
    const model = scriptedModel(lines);
    let early: unknown[] = [];
    const embedded = world.start({
      agents: [projectAgent(newSite())],
      model: {
        reply: async (...asked) => {
          if (model.requests.length === lines.length - 1) early = await runsOf(embedded, "site");
          return model.reply(...asked);
        },
      },
    });
    await define(embedded, { name: "site", agent: "builder", prompt: "make it" });
    await runNow(embedded.deps, { tenant: "acme", name: "site" });
    await embedded.sweep();
    await embedded.idle();
    expect(early).toMatchObject([{ status: "claimed" }]);
    expect(await runsOf(embedded, "site")).toMatchObject([{ status: "done", ...end }]);
    await embedded.stop(0);
  });
});

describe("a project that dies", () => {
  it("comes to the same end, whatever the instant, with each feature built and committed once (G1, G2, G3, G7)", {
    timeout: 120_000,
  }, async () => {
    const options = { roundsPerSegment: 4 };
    const lines = wellPlayed("a", "b");
    const { undisturbed, points } = await crashPoints(projectAgent(newSite()), lines, options);
    expect(undisturbed.answers.at(-1)).toBe("b is done.\n\nAll 2 features pass.");
    expect(points.length).toBeGreaterThan(150);
    for (const point of points) {
      const site = newSite();
      const played = await crashAt(point, projectAgent(site), lines, options);
      const at = JSON.stringify(point);
      expect({ at, history: played.history }).toEqual({ at, history: undisturbed.history });
      expect({ at, commits: [...site.commits.values()] }).toEqual({ at, commits: ["a", "b"] });
    }
  });

  it("is taken up by the sweeper when its next execution never starts (G1)", async () => {
    const clock = fakeClock();
    let sessionId = "";
    const game: Play = start([...plan("a"), ...built("a", 3)], {
      embed: { clock },
      // An execution of that name comes too early, finds the turn at work, and ends: the name is used up.
      onAsk: async (n) => {
        const next = { tenant: "acme", sessionId, turn: 2, segment: 0 };
        if (n === 2) await game.embedded.deps.orchestrator.start(nameExecution(next), { ...next, cause: "" });
      },
    });
    ({ sessionId } = await game.embedded.send("make it"));
    await game.embedded.idle();
    expect(turnsOf(await eventsOf(game.embedded, sessionId))).toEqual(["initializer: completed"]);
    await clock.advance(60_000);
    expect(await game.embedded.sweep()).toMatchObject({ started: 1 });
    await game.embedded.idle();
    const events = await eventsOf(game.embedded, sessionId);
    expect(turnsOf(events)).toEqual(["initializer: completed", "worker a 1: completed"]);
  });
});
