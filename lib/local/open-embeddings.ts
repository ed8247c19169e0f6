// BATON_EMBEDDINGS=bedrock: by the SDK's own settings (AWS_REGION, credentials, profiles). Loaded only then, since the SDK is large.
import { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";
import { createBedrockEmbeddings } from "../adapters/bedrock-embeddings.ts";
import { InvalidDefinition } from "../core/errors.ts";
import type { Embeddings } from "../ports/embeddings.ts";

/** Throws `InvalidDefinition` when no region is set. */
export async function openEmbeddings({ embeddingsModel: model }: { embeddingsModel: string }): Promise<Embeddings> {
  const client = new BedrockRuntimeClient({ maxAttempts: 1 });
  await client.config.region().catch((cause: unknown) => {
    throw new InvalidDefinition("BATON_EMBEDDINGS=bedrock needs a region: set AWS_REGION", { cause });
  });
  return createBedrockEmbeddings({ client, model });
}
