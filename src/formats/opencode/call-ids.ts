/** How many calls are remembered to tell whether an id is free. */
const MAX_CALLS = 4096;

/**
 * Gives every tool call an id of its own, so that results find their calls: opencode's, unless it was used before (some
 * providers count from zero in each message, and ids may have been blacked out), then one made of where the call stands.
 */
export class CallIds {
  readonly #used = new Set<string>();

  take(callId: unknown, place: string): string {
    const isFree = typeof callId === "string" && callId !== "" && !this.#used.has(callId);
    const id = isFree ? callId : place;
    this.#used.add(id);
    if (this.#used.size > MAX_CALLS) {
      const [oldest] = this.#used;
      this.#used.delete(oldest as string);
    }
    return id;
  }
}
