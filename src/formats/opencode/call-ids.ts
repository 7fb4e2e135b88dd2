import { BoundedMap } from "../../base/bounded-map.ts";

/** Maximum calls to remember when checking whether an id is free. */
const MAX_CALLS = 4096;

/**
 * Gives every tool call a unique id, so results find their calls: opencode's own id, or the call's place if that id was
 * used before. Some providers count from zero in each message, and ids may be redacted.
 */
export class CallIds {
  readonly #used = new BoundedMap<string, true>({ max: MAX_CALLS });

  assignId(callId: unknown, place: string): string {
    const isFree = typeof callId === "string" && callId !== "" && !this.#used.has(callId);
    const id = isFree ? callId : place;
    this.#used.set(id, true);
    return id;
  }
}
