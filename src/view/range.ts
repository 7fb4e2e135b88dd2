import { toEntry } from "../log/entry-body.ts";
import { checkKinds, type Entry, type EntryKind, type SessionId } from "../model/entry.ts";
import { checkWholeNumber } from "../model/errors.ts";
import type { EntryStore } from "../store/entry-store.ts";

/** Selects a range of the log. */
export interface RangeOptions {
  readonly from: number;
  readonly to?: number;
  /** Maximum number of entries; 100 by default. */
  readonly limit?: number;
  readonly kinds?: readonly EntryKind[];
}

/** Entries of the log in order of seq, on any line. */
export async function readRange(
  entries: EntryStore,
  session: SessionId,
  options: RangeOptions,
): Promise<readonly Entry[]> {
  const { kinds } = options;
  const stored = await entries.read(session, {
    from: checkWholeNumber("from", options.from, 1),
    to: options.to === undefined ? Number.POSITIVE_INFINITY : checkWholeNumber("to", options.to, 0),
    limit: checkWholeNumber("limit", options.limit ?? 100, 1, 1_000),
    order: "ascending",
    ...(kinds && { kinds: checkKinds(kinds) }),
  });
  return stored.map((entry) => toEntry(session, entry));
}
