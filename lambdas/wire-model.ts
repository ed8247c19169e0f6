// The model for the functions that ask one.
import { createAnthropicModel } from "../lib/adapters/anthropic.ts";
import { ModelUnavailable } from "../lib/core/errors.ts";
import type { Model } from "../lib/ports/model.ts";
import { once } from "./once.ts";
import { readSecret } from "./read-secret.ts";

/** Reads ANTHROPIC_BASE_URL and, for the key, ANTHROPIC_API_KEY or BATON_MODEL_SECRET (ARN or name of a secret). */
export function wireModel(env: NodeJS.ProcessEnv = process.env): Model {
  const ready = once(() => open(env));
  return {
    reply: async (request, options) => (await ready()).reply(request, options),
    countTokens: async (request) => {
      const { countTokens } = await ready();
      if (!countTokens) throw new ModelUnavailable("this model counts no tokens");
      return countTokens(request);
    },
  };
}

async function open(env: NodeJS.ProcessEnv): Promise<Model> {
  const apiKey = env.ANTHROPIC_API_KEY || (env.BATON_MODEL_SECRET && (await readSecret(env.BATON_MODEL_SECRET, env)));
  return createAnthropicModel({
    ...(apiKey ? { apiKey } : {}),
    ...(env.ANTHROPIC_BASE_URL ? { baseURL: env.ANTHROPIC_BASE_URL } : {}),
  });
}
