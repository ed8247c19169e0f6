// Embeddings for the functions that choose facts: Think and remember. Few turns need them, and the client is large: a bundle of
// its own (lib/constructs/bundling.ts), loaded when first needed.
import type { Embeddings } from "../lib/ports/embeddings.ts";
import { requireEmbeddings } from "../lib/steps/require-embeddings.ts";
import { knownError } from "./known-error.ts";
import { once } from "./once.ts";
import type { Wiring } from "./wire.ts";

/** Reads BATON_EMBEDDINGS_MODEL. Throws `InvalidDefinition` when an agent needs embeddings and there are none. */
export function withEmbeddings(wiring: Wiring, env: NodeJS.ProcessEnv = process.env): Wiring {
  const model = env.BATON_EMBEDDINGS_MODEL;
  const complete = model ? { ...wiring, embeddings: lazyEmbeddings(model) } : wiring;
  requireEmbeddings(complete);
  return complete;
}

function lazyEmbeddings(model: string): Embeddings {
  const ready = once(async () => (await import("./bedrock-embeddings.ts")).openBedrockEmbeddings(model));
  return {
    model,
    async embed(texts, options) {
      try {
        return await (await ready()).embed(texts, options);
      } catch (error) {
        throw knownError(error);
      }
    },
  };
}
