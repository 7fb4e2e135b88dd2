import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { checkKinds, type Entry, type EntryKind, type SessionId } from "../../model/entry.ts";
import { checkWholeNumber } from "../../model/errors.ts";
import type { Lifetime } from "../../model/lifetime.ts";
import { toEntry } from "../entry-body.ts";
import type { Store } from "../store/store.ts";

/** Start and filter of a tail. */
export interface TailOptions {
  /** Entries after this seq; by default those appended from now on. 0 starts with the first. */
  readonly after?: number;
  readonly kinds?: readonly EntryKind[];
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal;
}

/** Maximum number of entries read ahead of the consumer. */
const READ_AHEAD = 64;

/**
 * Follows a session's log in order of seq, for appends of any process. Nothing is read before the consumer asks, so a
 * slow consumer costs no memory.
 */
export function tailEntries(
  store: Store,
  session: SessionId,
  lifetime: Lifetime,
  options: TailOptions = {},
): AsyncGenerator<Entry> {
  if (options.kinds) checkKinds(options.kinds);
  // "From now on" means from this call, not from the first read of the consumer.
  const start =
    options.after === undefined
      ? store.entries.head(session).then(({ seq }) => seq)
      : Promise.resolve(checkWholeNumber("after", options.after, 0));
  start.catch(() => undefined);
  // Owned from the start: a consumer that stops reading without ending the iteration must not leak its listener.
  let isOpen = true;
  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    lifetime.release(owned);
    lifetime.census.closed("tail");
  };
  const entries = followEntries(store, session, start, options, end);
  const owned = lifetime.own({ close: () => entries.return(undefined).then(end) });
  lifetime.census.opened("tail");
  return entries;
}

async function* followEntries(
  store: Store,
  session: SessionId,
  start: Promise<number>,
  { signal, kinds }: TailOptions,
  ended: () => void,
): AsyncGenerator<Entry> {
  let position = await start;
  const bell = new Bell();
  const stopListening = store.onCommit(() => bell.ring());
  const onAbort = () => bell.ring();
  signal?.addEventListener("abort", onAbort);
  try {
    while (!signal?.aborted) {
      const ringing = bell.next();
      const query = {
        from: position + 1,
        to: Number.POSITIVE_INFINITY,
        limit: READ_AHEAD,
        order: "ascending",
        ...dropUndefined({ kinds }),
      } as const;
      // With a filter, the head shows how far an empty read has progressed.
      const head = kinds ? (await store.entries.head(session)).seq : 0;
      const stored = await store.entries.read(session, query);
      for (const entry of stored) {
        position = entry.seq;
        yield toEntry(session, entry);
        if (signal?.aborted) return;
      }
      if (stored.length === READ_AHEAD) continue;
      position = Math.max(position, head);
      await ringing;
    }
  } finally {
    stopListening();
    signal?.removeEventListener("abort", onAbort);
    ended();
  }
}

/** A wakeup signal; a ring between `next()` and its await is not lost. */
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
