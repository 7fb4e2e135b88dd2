/** Prices of prompt tokens as shares of the input price: Anthropic's, for five minutes. */
const WRITE = 1.25;
const READ = 0.1;

/** What one prompt was to the cache. */
export interface CachedPrompt {
  readonly readTokens: number;
  readonly writtenTokens: number;
}

/** How a provider sees prompts: it counts them in a simple way of its own, and caches what the one before began with. */
export class PromptCache {
  readonly #bytesPerToken: number;
  #last = Buffer.alloc(0);
  #paid = 0;

  constructor(bytesPerToken: number) {
    this.#bytesPerToken = bytesPerToken;
  }

  /** What all prompts so far have cost, in tokens at the input price. */
  get paidTokens(): number {
    return this.#paid;
  }

  countTokens(prompt: Buffer): number {
    return Math.ceil(prompt.length / this.#bytesPerToken);
  }

  /** Takes a prompt whose beginning may be in the cache, and caches all of it. */
  take(prompt: Buffer): CachedPrompt {
    const tokens = this.countTokens(prompt);
    const readTokens = Math.floor(sameBytes(this.#last, prompt) / this.#bytesPerToken);
    const writtenTokens = tokens - readTokens;
    this.#last = Buffer.from(prompt);
    this.#paid += WRITE * writtenTokens + READ * readTokens;
    return { readTokens, writtenTokens };
  }
}

/** Length of the common beginning, found by halving. */
function sameBytes(one: Buffer, other: Buffer): number {
  let same = 0;
  let beyond = Math.min(one.length, other.length) + 1;
  while (beyond - same > 1) {
    const middle = (same + beyond) >> 1;
    if (one.compare(other, same, middle, same, middle) === 0) same = middle;
    else beyond = middle;
  }
  return same;
}
