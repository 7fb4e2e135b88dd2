import { toEntry } from "../log/body.ts";
import type { Entry, EntryKind, SessionId } from "../model/entry.ts";
import { wholeNumber } from "../model/errors.ts";
import type { Census } from "../model/scope.ts";
import type { Store } from "../store/store.ts";

/** Where to begin and what to follow. */
export interface TailOptions {
  /** Entries after this seq; by default those appended from now on. 0 begins with the first. */
  readonly after?: number;
  readonly kinds?: readonly EntryKind[];
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal;
}

/** Entries read ahead of the consumer at most. */
const READ_AHEAD = 64;

/**
 * Follows a session's log in order of seq, whoever appends. The consumer sets the pace: nothing is read before it asks,
 * and a slow one costs no memory.
 */
export async function* tailEntries(
  store: Store,
  session: SessionId,
  census: Census,
  options: TailOptions = {},
): AsyncGenerator<Entry> {
  const { signal, kinds } = options;
  let position =
    options.after === undefined
      ? (await store.entries.head(session)).seq
      : wholeNumber("after", options.after, 0);
  const bell = new Bell();
  const stopListening = store.onCommit(() => bell.ring());
  const onAbort = () => bell.ring();
  signal?.addEventListener("abort", onAbort);
  census.opened("tail");
  try {
    while (!signal?.aborted) {
      const ringing = bell.next();
      const query = {
        from: position + 1,
        to: Number.POSITIVE_INFINITY,
        limit: READ_AHEAD,
        order: "ascending",
        ...(kinds && { kinds }),
      } as const;
      const stored = await store.entries.read(session, query);
      for (const entry of stored) {
        position = entry.seq;
        yield toEntry(session, entry);
        if (signal?.aborted) return;
      }
      if (stored.length < READ_AHEAD) await ringing;
    }
  } finally {
    stopListening();
    signal?.removeEventListener("abort", onAbort);
    census.closed("tail");
  }
}

/** Something to wait for; a ring between asking and waiting is not lost. */
class Bell {
  #ring: () => void = () => undefined;

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#ring = resolve;
    });
  }

  ring(): void {
    this.#ring();
  }
}
