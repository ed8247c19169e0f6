// The embedded runtime's settings, from the environment (contract.md). An unknown value fails with its mend.
import { resolve } from "node:path";
import { defaultEmbeddingModel, requireTitan } from "../adapters/bedrock-embeddings-model.ts";
import { InvalidDefinition } from "../core/errors.ts";

export type Settings = {
  port: number;
  /** Absolute path. */
  data: string;
  store: "sqlite" | "dynamodb" | "memory";
  agent: string;
  model: "demo" | "anthropic";
  embeddings: "off" | "bedrock";
  /** Bedrock's id of the model of embeddings. */
  embeddingsModel: string;
  smtpUrl?: string;
  mailFrom: string;
  /** A file of prices laid over the table's own. */
  prices?: string;
  /** Base of mailed links; absent: the runtime's own URL. */
  publicUrl?: string;
};

export function readSettings(env: NodeJS.ProcessEnv, cwd: string): Settings {
  const keyed = Boolean(env.ANTHROPIC_API_KEY || env.ANTHROPIC_BASE_URL);
  const model = oneOf("BATON_MODEL", env.BATON_MODEL || (keyed ? "anthropic" : "demo"), ["demo", "anthropic"]);
  if (model === "anthropic" && !keyed) {
    throw new InvalidDefinition(
      "BATON_MODEL=anthropic needs ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL of a server that speaks the Messages API",
    );
  }
  const store = oneOf("BATON_STORE", env.BATON_STORE || "sqlite", ["sqlite", "dynamodb", "memory"]);
  return {
    port: portOf(env.PORT || "8787"),
    data: resolve(cwd, env.BATON_DATA || ".baton"),
    store,
    agent: env.BATON_AGENT || "examples/aml-investigator/agent.ts",
    model,
    embeddings: oneOf("BATON_EMBEDDINGS", env.BATON_EMBEDDINGS || "off", ["off", "bedrock"]),
    embeddingsModel: requireTitan(env.BATON_EMBEDDINGS_MODEL || defaultEmbeddingModel, "BATON_EMBEDDINGS_MODEL"),
    mailFrom: env.BATON_MAIL_FROM || "Baton <baton@localhost.localdomain>",
    ...(env.BATON_PRICES ? { prices: env.BATON_PRICES } : {}),
    ...(env.BATON_SMTP_URL ? { smtpUrl: env.BATON_SMTP_URL } : {}),
    ...(env.BATON_PUBLIC_URL ? { publicUrl: env.BATON_PUBLIC_URL } : {}),
  };
}

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidDefinition(`PORT=${text}: use a number from 0 to 65535`);
  return port;
}

function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new InvalidDefinition(`${name}=${value}: use one of ${allowed.join(", ")}`);
  return found;
}
