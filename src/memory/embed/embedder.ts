/** How an embedder may be called. */
export interface EmbedOptions {
  readonly signal?: AbortSignal;
}

/** Turns texts into vectors whose directions say what they mean. */
export interface Embedder {
  /** Provider and model, as `openai/text-embedding-3-small`. Vectors of different ids are never compared. */
  readonly id: string;
  /** Undefined while only a first answer can tell. */
  readonly dimensions: number | undefined;
  /** True if computing a vector costs less than looking it up: nothing is cached for it. */
  readonly isInstant?: boolean;
  /** One vector for each text, in order; zeros for a text that says nothing. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly ArrayLike<number>[]>;
  close?(): Promise<void>;
}
