// The HTTP API behind API Gateway, streaming: the same app as the embedded runtime's.
import { Hono } from "hono";
import { streamHandle } from "hono/aws-lambda";
import { createApi } from "../lib/api/create-api.ts";
import { once } from "./once.ts";
import { wire } from "./wire.ts";
import { wireApprovals } from "./wire-approvals.ts";
import { wireAuth } from "./wire-auth.ts";
import { wireOrchestrator } from "./wire-orchestrator.ts";

const base = wire({ orchestrator: wireOrchestrator() });
const authenticate = wireAuth();
const info = { version: process.env.BATON_VERSION ?? "", model: "anthropic" };

const api = once(async () => {
  const deps = { ...base, ...(await wireApprovals()), stopping: new AbortController().signal };
  return createApi({ deps, authenticate, info });
});

export const handler = streamHandle(new Hono().mount("/", async (request, env) => (await api()).fetch(request, env)));
