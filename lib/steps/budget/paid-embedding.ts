// Vectors of texts that are paid for (paid-call.ts), as every call of a model is.
import { noUsage } from "../../core/content.ts";
import { InvalidDefinition } from "../../core/errors.ts";
import type { PaidEmbeddings } from "../../core/memory/memory-event.ts";
import { costMicros, worstCostMicros } from "../../core/prices.ts";
import type { Uncharged } from "../../ports/model.ts";
import type { Head } from "../../store/log.ts";
import type { Deps } from "../deps.ts";
import { paidCall } from "./paid-call.ts";

/** `vectors`: one for each text, in their order. */
export type PaidVectors = PaidEmbeddings & { vectors: number[][] };

export type PaidVectorsOptions = { signal?: AbortSignal /** Sets calls of one round apart. */; purpose: string };

/** Throws what the embeddings and `paidCall` throw; `InvalidDefinition` when the runtime has none. */
export async function paidEmbedding(
  deps: Deps,
  head: Head,
  texts: readonly string[],
  { signal, purpose }: PaidVectorsOptions,
): Promise<PaidVectors> {
  const { embeddings, prices } = deps;
  if (!embeddings) throw new InvalidDefinition("this runtime has no embeddings");
  const { model } = embeddings;
  const most = texts.reduce((sum, text) => sum + mostTokens(text), 0);
  const made = await paidCall(deps, head, {
    model,
    purpose,
    worst: { usdMicros: worstCostMicros(model, { inputTokens: most, maxTokens: 0 }, prices), tokens: most },
    make: () => embeddings.embed(texts, signal ? { signal } : {}),
    costOf: ({ inputTokens }) => ({
      usdMicros: costMicros(model, { ...noUsage, inputTokens }, prices),
      tokens: inputTokens,
    }),
    // Not by its name, as a reply's: some of the texts may have been charged before one was refused.
    isUncharged: (error) => error instanceof Error && (error as Partial<Uncharged>).uncharged === true,
  });
  const usage = { ...noUsage, inputTokens: made.inputTokens };
  return { vectors: made.vectors, model, usage, usdMicros: costMicros(model, usage, prices) };
}

/** No tokenizer makes more tokens than a text has bytes, but for a mark at each end. The price allows to be generous. */
function mostTokens(text: string): number {
  return encoder.encode(text).byteLength + 2;
}

const encoder = new TextEncoder();
