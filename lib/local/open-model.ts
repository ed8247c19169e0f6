// The model of the settings: the real API, or the demo model served in this process and spoken to over HTTP
// like any other.
import { createAnthropicModel } from "../adapters/anthropic.ts";
import { createDemoModelServer } from "../demo-model/server.ts";
import type { Model } from "../ports/model.ts";
import type { Settings } from "./settings.ts";

export type OpenModel = { model: Model /** For people: what it is. */; name: string; close(): Promise<void> };

export async function openModel(settings: Pick<Settings, "model">): Promise<OpenModel> {
  if (settings.model === "demo") {
    const server = await createDemoModelServer({ latencyMs: Number(process.env.BATON_DEMO_LATENCY_MS || 15) });
    const model = createAnthropicModel({ apiKey: "demo", baseURL: server.url });
    return { model, name: "demo (rule-based stand-in, not an LLM)", close: () => server.close() };
  }
  const baseURL = process.env.ANTHROPIC_BASE_URL;
  const apiKey = process.env.ANTHROPIC_API_KEY;
  const model = createAnthropicModel({ ...(apiKey ? { apiKey } : {}), ...(baseURL ? { baseURL } : {}) });
  return { model, name: baseURL ? `Messages API at ${new URL(baseURL).host}` : "Anthropic API", close: async () => {} };
}
