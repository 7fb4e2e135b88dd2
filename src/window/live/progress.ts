import { afterEdit, type Breaker, freshBreaker, isTripped } from "../limits/breaker.ts";
import { stuckError } from "./errors.ts";
import type { Planned } from "./fitted.ts";
import type { Proposed } from "./planning.ts";

/** Watches that edits free something: those that do not cost the cache for nothing. */
export class Progress {
  #breaker: Breaker = freshBreaker;

  /** Throws WINDOW_STUCK after several edits that freed nothing although they were needed: an error and no loop. */
  check({ receipt: { tokens } }: Planned, { isForced }: Proposed, mostTokens: number): void {
    this.#breaker = afterEdit(this.#breaker, { beforeTokens: tokens.without, afterTokens: tokens.with });
    if (!isForced || !isTripped(this.#breaker)) return;
    const { idleEdits } = this.#breaker;
    this.#breaker = freshBreaker;
    throw stuckError(idleEdits, tokens.with, mostTokens);
  }
}
