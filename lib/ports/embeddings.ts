// A model that turns texts into vectors: the closer two texts are in meaning, the smaller the angle between theirs. One
// request, one answer; nothing is kept between calls. Implementations do not retry: they throw, and the caller goes on by words.

export type Embedded = {
  /** One for each text, in their order; finite numbers, all of one length. */
  vectors: number[][];
  inputTokens: number;
};

export type EmbedOptions = { signal?: AbortSignal };

export interface Embeddings {
  /** The provider's id of the model, which has its price. Vectors of two models are never compared. */
  readonly model: string;
  /**
   * All or nothing. No text may be blank. Throws ModelRateLimited, ModelUnavailable, ModelRejected, ModelAuthFailed; with
   * `uncharged` (see the Model port) when it is sure that none of the texts cost anything.
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Embedded>;
}
