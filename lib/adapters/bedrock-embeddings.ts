// The Embeddings port over Amazon Bedrock: Titan Text Embeddings V2, one text a call, a few calls at a time. Make the client with
// `maxAttempts: 1`: whoever asks goes on without rather than wait.
import { type BedrockRuntimeClient, InvokeModelCommand } from "@aws-sdk/client-bedrock-runtime";
import * as z from "zod";
import { type BatonError, ModelUnavailable } from "../core/errors.ts";
import type { Embeddings } from "../ports/embeddings.ts";
import { isRefusal, toEmbeddingError } from "./bedrock-embeddings-errors.ts";
import { defaultEmbeddingModel, requireTitan } from "./bedrock-embeddings-model.ts";

export type BedrockEmbeddingsOptions = {
  client: BedrockRuntimeClient;
  /** @default amazon.titan-embed-text-v2:0 */
  model?: string;
};

/** The smallest that Titan has: facts are one sentence, and their vectors stand beside them. */
const dimensions = 256;
/** Calls at a time. */
const atOnce = 8;

/** Source: Amazon Bedrock User Guide, "Amazon Titan Embeddings G1 - Text", V2 response. */
const answer = z.object({
  embedding: z.array(z.number()).length(dimensions),
  inputTextTokenCount: z.int().min(0),
});
type Answer = z.output<typeof answer>;

export function createBedrockEmbeddings(options: BedrockEmbeddingsOptions): Embeddings {
  const { client } = options;
  const model = requireTitan(options.model ?? defaultEmbeddingModel, "model");

  async function one(text: string, signal: AbortSignal | undefined): Promise<Answer> {
    const command = new InvokeModelCommand({
      modelId: model,
      contentType: "application/json",
      accept: "application/json",
      body: JSON.stringify({ inputText: text, dimensions, normalize: true }),
    });
    const { body } = await client.send(command, signal ? { abortSignal: signal } : {});
    const read = answer.safeParse(jsonOf(body));
    if (read.success) return read.data;
    throw new ModelUnavailable("Bedrock made no embedding: its answer has another form");
  }

  return {
    model,
    async embed(texts, { signal } = {}) {
      const answers = new Array<Answer | undefined>(texts.length);
      const failures: BatonError[] = [];
      const left = texts.entries();
      // After a failure nothing new is begun; what is under way is waited for, since it may be charged.
      const work = async () => {
        for (const [index, text] of left) {
          if (failures.length > 0 || signal?.aborted) return;
          try {
            answers[index] = await one(text, signal);
          } catch (error) {
            failures.push(toEmbeddingError(error));
          }
        }
      };
      await Promise.all(Array.from({ length: Math.min(atOnce, texts.length) }, work));
      signal?.throwIfAborted();
      const [failure] = failures;
      const made = answers.filter((one) => one !== undefined);
      if (failure) {
        const free = made.length === 0 && failures.every(isRefusal);
        throw free ? Object.assign(failure, { uncharged: true as const }) : failure;
      }
      return {
        vectors: made.map(({ embedding }) => embedding),
        inputTokens: made.reduce((sum, { inputTextTokenCount }) => sum + inputTextTokenCount, 0),
      };
    },
  };
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}
