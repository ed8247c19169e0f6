// The real API over a real store in memory, with an orchestrator that starts nothing: tests write the steps
// themselves, event by event.

import * as z from "zod";
import { createRandomIds } from "../../lib/adapters/random-ids.ts";
import type { ApiLimits, Authenticate, RouteModule } from "../../lib/api/api-context.ts";
import { type Api, createApi } from "../../lib/api/create-api.ts";
import { defineFlow, step } from "../../lib/core/define-flow.ts";
import type { Deps } from "../../lib/steps/deps.ts";
import type { StoreOptions } from "../../lib/store/index.ts";
import { embed } from "../../lib/testing/embed.ts";
import { type FakeClock, fakeClock } from "../../lib/testing/fake-clock.ts";
import { type SessionLog, sessionLog, start } from "../sessions/session-log.ts";

export type Line = { level: "info" | "warn" | "error"; message: string; fields?: Record<string, unknown> };

export type ApiFixture = {
  api: Api;
  deps: Deps;
  clock: FakeClock;
  lines: Line[];
  stop: AbortController;
  /** As tenant acme, user ann, unless `token` says otherwise (`tenant/user`; "" sends none). */
  ask(path: string, init?: RequestInit & { token?: string; json?: unknown }): Promise<Response>;
  session(at?: Parameters<typeof sessionLog>[0]): SessionLog;
};

const agent = defineFlow({
  name: "aml",
  state: z.object({ input: z.string() }),
  initial: (input) => ({ input }),
  steps: [step("echo", (state: { input: string }) => state)],
});

/** Tokens of tests are `tenant/user`. */
export const authenticate: Authenticate = async (token) => {
  const [tenant, user] = token.split("/");
  return tenant && user ? { tenant, user } : null;
};

export type FixtureOptions = {
  limits?: Partial<ApiLimits>;
  routes?: RouteModule[];
  clock?: FakeClock;
  authenticate?: Authenticate;
  /** Turns really run. @default they are accepted only, and tests write their events */
  runs?: boolean;
  /** What another fixture has stored, read by a process that knows nothing of it yet. */
  storage?: Pick<StoreOptions, "table" | "blobs">;
};

export function apiFixture(options: FixtureOptions = {}): ApiFixture {
  const clock = options.clock ?? fakeClock({ start, autoUnderMs: 0 });
  const lines: Line[] = [];
  const say = (level: Line["level"]) => (message: string, fields?: Record<string, unknown>) => {
    lines.push({ level, message, ...(fields ? { fields } : {}) });
  };
  const stop = new AbortController();
  const log = { info: say("info"), warn: say("warn"), error: say("error") };
  const runtime = embed({
    agents: [agent],
    model: { reply: () => Promise.reject(new Error("no model here")) },
    clock,
    log,
    ids: createRandomIds(),
    ...(options.storage ? { table: options.storage.table, blobs: options.storage.blobs } : {}),
  });
  const deps: Deps = {
    ...runtime.deps,
    ...(options.runs
      ? {}
      : {
          orchestrator: {
            start: async () => "started",
            release: async () => "gone",
            isRunning: async () => true,
          } satisfies Deps["orchestrator"],
        }),
    stopping: stop.signal,
  };
  const api = createApi({
    deps,
    authenticate: options.authenticate ?? authenticate,
    info: { version: "0.1.0", model: "none" },
    ...(options.limits ? { limits: options.limits } : {}),
    ...(options.routes ? { routes: options.routes } : {}),
  });
  return {
    api,
    deps,
    clock,
    lines,
    stop,
    ask(path, { token = "acme/ann", json, ...init } = {}) {
      const headers = new Headers(init.headers);
      if (token !== "") headers.set("Authorization", `Bearer ${token}`);
      const body = json === undefined ? init.body : JSON.stringify(json);
      return api.fetch(
        new Request(`http://baton.test${path}`, { ...init, headers, ...(body === undefined ? {} : { body }) }),
      );
    },
    session: (at) => sessionLog({ ...at, store: deps.store, clock }),
  };
}

export type ProblemBody = {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  errors?: { path: string; message: string }[];
};

/** The problem in an answer, and that it is one. */
export async function problemOf(response: Response): Promise<ProblemBody> {
  if (response.headers.get("Content-Type") !== "application/problem+json")
    throw new Error(`not a problem: ${await response.text()}`);
  return (await response.json()) as ProblemBody;
}
