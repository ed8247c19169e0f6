// A language model. One request, one reply; nothing is kept between calls. Implementations do not retry:
// they throw a `Transient` (with `retryAfterMs` where the server said so) and the steps decide.
import type { AssistantContent, Message, StopReason, Usage } from "../core/content.ts";
import type { JsonObject } from "../core/json.ts";

export type ToolSpec = { name: string; description: string /** JSON Schema of an object. */; inputSchema: JsonObject };

export type ModelRequest = {
  model: string;
  maxTokens: number;
  /** Stable first; `cache` asks for a cache mark after this part (at most four in a request). */
  system: { text: string; cache?: boolean }[];
  tools: ToolSpec[];
  messages: Message[];
  /** Index of the message after whose last block a cache mark is set. */
  cacheMessages?: number[];
};

export type ModelReply = {
  model: string;
  content: AssistantContent[];
  stop: StopReason;
  /** The provider's own word when `stop` is "other". */
  rawStop?: string;
  usage: Usage;
  requestId?: string;
};

export type ModelOptions = {
  signal?: AbortSignal;
  /** Text as it arrives; best effort, for people watching. Never the source of what is stored. */
  onText?: (text: string) => void;
};

export interface Model {
  /**
   * Complete only when the provider said so with its final event. Throws ModelRateLimited, ModelOverloaded,
   * ModelUnavailable, ModelStreamCut (its `partial` holds the text so far), ModelRejected, ModelAuthFailed; `Uncharged` when
   * it is sure that the call cost nothing.
   */
  reply(request: ModelRequest, options?: ModelOptions): Promise<ModelReply>;
  /** Real input tokens of a request, when the provider can count them. */
  countTokens?(request: ModelRequest): Promise<number>;
}

/** On a thrown error: the provider refused before it did any work. Without it the call may have been charged. */
export type Uncharged = { uncharged: true };

/** Thrown with a cut stream: what had arrived, for the record only. */
export type CutStream = { partial: string };
