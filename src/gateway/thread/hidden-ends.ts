import { BoundedMap } from "../../base/bounded-map.ts";

/**
 * The actual end of a stored reply that the client saw only in part; the provider needs it when the client
 * continues.
 */
interface HiddenEnd {
  /** Id of the reply that the conversation actually ended with. */
  readonly last: string;
  /** Ids of unanswered calls of the gateway's tools in that reply. */
  readonly unanswered: readonly string[];
}

const MAX_ENDS = 64;

/** Actual ends by the reply id that the client saw, for replies that the client saw only in part. */
export class HiddenEnds {
  readonly #ends = new BoundedMap<string, HiddenEnd>({ max: MAX_ENDS });

  get(shown: unknown): HiddenEnd | undefined {
    return typeof shown === "string" ? this.#ends.get(shown) : undefined;
  }

  set(shown: string, end: HiddenEnd): void {
    if (end.last === shown && end.unanswered.length === 0) return;
    this.#ends.set(shown, end);
  }
}
