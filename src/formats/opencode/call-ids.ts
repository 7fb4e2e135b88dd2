/** Maximum calls to remember when checking whether an id is free. */
const MAX_CALLS = 4096;

/**
 * Gives every tool call a unique id, so results find their calls: opencode's own id, or the call's place if that id was
 * used before. Some providers count from zero in each message, and ids may be redacted.
 */
export class CallIds {
  readonly #used = new Set<string>();

  assignId(callId: unknown, place: string): string {
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
