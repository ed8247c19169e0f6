// The HTTP API behind API Gateway, streaming: the same app as the embedded runtime's.
import { Hono } from "hono";
import { streamHandle } from "hono/aws-lambda";
import { createApi } from "../lib/api/create-api.ts";
import { wire } from "./wire.ts";
import { wireAuth } from "./wire-auth.ts";
import { wireOrchestrator } from "./wire-orchestrator.ts";

const deps = { ...wire({ orchestrator: wireOrchestrator() }), stopping: new AbortController().signal };
const info = { version: process.env.BATON_VERSION ?? "", model: "anthropic" };
const api = createApi({ deps, authenticate: wireAuth(), info });

export const handler = streamHandle(new Hono().mount("/", api.fetch));
