// What the log tells of long-term memory. Ids only: what a fact says can be corrected and deleted.
import type { Usage } from "../content.ts";

export type PaidEmbeddings = { model: string; usage: Usage; usdMicros: number };

export type MemoryEvent =
  | {
      /** Long-term memory has looked at a turn; once for each. */
      type: "memory.updated";
      turn: number;
      added: string[];
      closed: string[];
      /** Why something that was found was not taken, or why nothing was learnt. */
      refused: string[];
      model?: string;
      usage: Usage;
      usdMicros: number;
      /** What embeddings cost, beside the model's question. */
      embeddings?: PaidEmbeddings;
    }
  | {
      /** Which facts a turn is shown, when not all fit and embeddings were to choose; once, before its first model call. */
      type: "memory.recalled";
      turn: number;
      shown: string[];
      /** Present when words alone chose: the code of what was wrong with the embeddings. */
      fallback?: string;
      model?: string;
      usage: Usage;
      usdMicros: number;
    };
