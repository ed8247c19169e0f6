// The model for the functions that ask one. Its key comes from the secret that the construct names, through the
// Parameters and Secrets extension of Lambda: cached, and without an SDK.
import { createAnthropicModel } from "../lib/adapters/anthropic.ts";
import { ModelAuthFailed, ModelUnavailable } from "../lib/core/errors.ts";
import type { Model } from "../lib/ports/model.ts";

/** Reads ANTHROPIC_BASE_URL and, for the key, ANTHROPIC_API_KEY or BATON_MODEL_SECRET (ARN or name of a secret). */
export function wireModel(env: NodeJS.ProcessEnv = process.env): Model {
  let model: Promise<Model> | undefined;
  // The extension answers during invocations only, so the key is read with the first request; a failure is not kept.
  const ready = () => {
    model ??= open(env).catch((error: unknown) => {
      model = undefined;
      throw error;
    });
    return model;
  };
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

async function readSecret(secret: string, env: NodeJS.ProcessEnv): Promise<string> {
  const port = env.PARAMETERS_SECRETS_EXTENSION_HTTP_PORT ?? "2773";
  const url = `http://localhost:${port}/secretsmanager/get?secretId=${encodeURIComponent(secret)}`;
  const headers = { "X-Aws-Parameters-Secrets-Token": env.AWS_SESSION_TOKEN ?? "" };
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) }).catch(() => {
    throw new ModelUnavailable("the secrets extension does not answer");
  });
  if (answer.status >= 500) throw new ModelUnavailable(`the secrets extension answered ${answer.status}`);
  const { SecretString } = answer.ok ? ((await answer.json()) as { SecretString?: string }) : {};
  if (!SecretString) throw new ModelAuthFailed(`the model's secret cannot be read (${answer.status})`);
  return SecretString;
}
