import { BoundedMap } from "../../base/bounded-map.ts";
import type { CachedLine } from "../../conversation/line-cache.ts";
import type { SessionId } from "../../index.ts";

/** Number of replies by which threads are found that have left memory. */
const MAX_REPLIES = 20_000;
/** The last reply that a client has is among this many of its conversation, unless it goes far back. */
const REPLIES_PER_THREAD = 4;
/** Number of conversations with the same reply to open. */
const MAX_THREADS = 32;

/** Threads that have left memory, by their latest replies, so that the store need not be searched for them. */
export class ReleasedThreads {
  readonly #byReply = new BoundedMap<string, readonly SessionId[]>({ max: MAX_REPLIES });

  /** Records a thread that leaves memory. */
  add(id: SessionId, { keys, roles }: Pick<CachedLine, "keys" | "roles">): void {
    let count = 0;
    for (let place = keys.length - 1; place >= 0 && count < REPLIES_PER_THREAD; place--) {
      if (roles[place] !== "assistant") continue;
      const reply = keys[place] as string;
      const others = (this.#byReply.get(reply) ?? []).filter((other) => other !== id);
      this.#byReply.set(reply, [id, ...others].slice(0, MAX_THREADS));
      count++;
    }
  }

  /** The threads with a reply, the last one released first. */
  find(reply: string): readonly SessionId[] {
    return this.#byReply.get(reply) ?? [];
  }
}
