// Secrets through the Parameters and Secrets extension of Lambda: cached, and without an SDK. It answers during
// invocations only, never while a function is loaded.
import { InvalidDefinition, StoreUnavailable } from "../lib/core/errors.ts";

/** The text of a secret (ARN or name). Throws a Transient when it cannot be read now, InvalidDefinition when it is empty or not ours. */
export async function readSecret(secret: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const port = env.PARAMETERS_SECRETS_EXTENSION_HTTP_PORT ?? "2773";
  const url = `http://localhost:${port}/secretsmanager/get?secretId=${encodeURIComponent(secret)}`;
  const headers = { "X-Aws-Parameters-Secrets-Token": env.AWS_SESSION_TOKEN ?? "" };
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) }).catch(() => {
    throw new StoreUnavailable("the secrets extension does not answer");
  });
  if (answer.status >= 500) throw new StoreUnavailable(`the secrets extension answered ${answer.status}`);
  const { SecretString } = answer.ok ? ((await answer.json()) as { SecretString?: string }) : {};
  if (!SecretString) throw new InvalidDefinition(`the secret ${secret} cannot be read or is empty (${answer.status})`);
  return SecretString;
}
