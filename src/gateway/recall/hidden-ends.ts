/** What a provider that keeps replies has to be told when a client goes on from one that it saw only in part. */
export interface HiddenEnd {
  /** The reply that the conversation really ended with. */
  readonly last: string;
  /** Calls of ours in it that nobody has answered. */
  readonly unanswered: readonly string[];
}

const MOST = 64;

/** By the id that clients were told, where what they saw is not all there was. */
export class HiddenEnds {
  readonly #ends = new Map<string, HiddenEnd>();

  get(shown: unknown): HiddenEnd | undefined {
    return typeof shown === "string" ? this.#ends.get(shown) : undefined;
  }

  set(shown: string, end: HiddenEnd): void {
    if (end.last === shown && end.unanswered.length === 0) return;
    this.#ends.set(shown, end);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > MOST && oldest !== undefined) this.#ends.delete(oldest);
  }
}
