// Which models of Bedrock the adapter speaks to. Apart from it, so that settings and constructs need no SDK.
import { InvalidDefinition } from "../core/errors.ts";

export const defaultEmbeddingModel = "amazon.titan-embed-text-v2:0";

/** Throws `InvalidDefinition` for a model whose requests have another form; `what` names the option. */
export function requireTitan(model: string, what: string): string {
  if (/^amazon\.titan-embed-text-v2(?::\d+)?$/.test(model)) return model;
  throw new InvalidDefinition(`${what}: "${model}" is not known here; use ${defaultEmbeddingModel}`);
}
