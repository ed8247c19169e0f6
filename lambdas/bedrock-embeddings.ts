// The part of the wiring that pulls in the client of Bedrock; only ever imported lazily.
import { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";
import { createBedrockEmbeddings } from "../lib/adapters/bedrock-embeddings.ts";
import type { Embeddings } from "../lib/ports/embeddings.ts";

export function openBedrockEmbeddings(model: string): Embeddings {
  return createBedrockEmbeddings({ client: new BedrockRuntimeClient({ maxAttempts: 1 }), model });
}
