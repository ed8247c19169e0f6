// The example over the wire, without a key: from one sentence to a site, in a real folder under git, by the demo model.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import agent from "../../examples/project-builder/agent.ts";
import { checks } from "../../examples/project-builder/run-check.ts";
import { createAnthropicModel } from "../../lib/adapters/anthropic.ts";
import type { Event } from "../../lib/core/event.ts";
import { createDemoModelServer, type DemoModelServer } from "../../lib/demo-model/server.ts";
import { type Embedded, embed } from "../../lib/testing/embed.ts";

const order = ["page", "style", "data", "list", "links"];

describe("project-builder, played by the demo model", () => {
  let server: DemoModelServer;
  let folder: string;
  const running: Embedded[] = [];
  beforeAll(async () => {
    server = await createDemoModelServer();
  });
  afterAll(() => server.close());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "baton-project-"));
    vi.stubEnv("PROJECT_DIR", folder);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    for (const embedded of running.splice(0)) await embedded.stop(0);
    rmSync(folder, { recursive: true, force: true });
  });

  function start(options: Partial<Parameters<typeof embed>[0]> = {}): Embedded {
    const model = createAnthropicModel({ apiKey: "demo", baseURL: server.url });
    const embedded = embed({ agents: [agent], model, ...options });
    running.push(embedded);
    return embedded;
  }

  it("builds the site by itself from one sentence: five features, each proven, each one commit", async () => {
    const embedded = start();
    const { sessionId } = await embedded.send("Build a small site about sourdough bread.");
    await embedded.idle();
    const events = await eventsOf(embedded, sessionId);
    expect(answersOf(events)).toEqual([]);
  });
});

async function eventsOf({ deps }: Embedded, sessionId: string): Promise<Event[]> {
  return (await deps.store.log.events("acme", sessionId, 0)).map(({ event }) => event);
}

function answersOf(events: Event[]): string[] {
  return events.flatMap((event) => (event.type === "turn.finished" || event.type === "turn.failed" ? [event.answer] : []));
}
