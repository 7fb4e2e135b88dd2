/** Prices of prompt tokens relative to the input price: Anthropic's five-minute cache. */
const WRITE = 1.25;
const READ = 0.1;

/** Cache use of one prompt. */
export interface CachedPrompt {
  readonly readTokens: number;
  readonly writtenTokens: number;
}

/** A simulated provider cache: counts tokens by bytes, and caches the prefix shared with the previous prompt. */
export class PromptCache {
  readonly #bytesPerToken: number;
  #last = Buffer.alloc(0);
  #paid = 0;

  constructor(bytesPerToken: number) {
    this.#bytesPerToken = bytesPerToken;
  }

  /** Cost of all prompts so far, in tokens at the input price. */
  get paidTokens(): number {
    return this.#paid;
  }

  countTokens(prompt: Buffer): number {
    return Math.ceil(prompt.length / this.#bytesPerToken);
  }

  /** Counts cached and new tokens of a prompt, then caches all of it. */
  take(prompt: Buffer): CachedPrompt {
    const tokens = this.countTokens(prompt);
    const readTokens = Math.floor(sameBytes(this.#last, prompt) / this.#bytesPerToken);
    const writtenTokens = tokens - readTokens;
    this.#last = Buffer.from(prompt);
    this.#paid += WRITE * writtenTokens + READ * readTokens;
    return { readTokens, writtenTokens };
  }
}

/** Length of the common prefix, by bisection. */
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
