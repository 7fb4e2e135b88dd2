import { toEntry } from "../log/body.ts";
import { checkKinds, type Entry, type EntryKind, type SessionId } from "../model/entry.ts";
import { wholeNumber } from "../model/errors.ts";
import type { Scope } from "../model/scope.ts";
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
export function tailEntries(
  store: Store,
  session: SessionId,
  scope: Scope,
  options: TailOptions = {},
): AsyncGenerator<Entry> {
  if (options.kinds) checkKinds(options.kinds);
  // "From now on" means from this call on, and not from whenever the consumer first asks.
  const start =
    options.after === undefined
      ? store.entries.head(session).then(({ seq }) => seq)
      : Promise.resolve(wholeNumber("after", options.after, 0));
  start.catch(() => undefined);
  // Owned from the start: a consumer that stops asking without ending the iteration must not keep its listener for ever.
  let isOpen = true;
  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    scope.release(owned);
    scope.census.closed("tail");
  };
  const entries = follow(store, session, start, options, end);
  const owned = scope.own({ close: () => entries.return(undefined).then(end) });
  scope.census.opened("tail");
  return entries;
}

async function* follow(
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
        ...(kinds && { kinds }),
      } as const;
      // With a filter, the head tells how far a read that found nothing has looked.
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
