export interface EmbedOptions {
  readonly signal?: AbortSignal;
}

/** Turns texts into vectors whose directions represent their meaning. */
export interface Embedder {
  /** Provider and model, such as `openai/text-embedding-3-small`. Vectors of different ids are never compared. */
  readonly id: string;
  /** Undefined until the first response if only that reveals it. */
  readonly dimensions: number | undefined;
  /** True if computing a vector is cheaper than looking it up, so that vectors are not cached. */
  readonly isInstant?: boolean;
  /** One vector per text, in order; zeros for a text without meaning. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly ArrayLike<number>[]>;
  close?(): Promise<void>;
}
