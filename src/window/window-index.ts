import { findBonds } from "./find-bonds.ts";
import { type Group, groupSlots } from "./group.ts";
import { listEditableResults, type PlacedResult, pairResults } from "./placed-result.ts";
import { findShownContents, type ShownContents } from "./shown-contents.ts";
import type { Slot } from "./slot.ts";

/** Structures that passes query repeatedly; each is computed on first use. */
interface WindowIndex {
  readonly groups: readonly Group[];
  readonly exchanges: readonly Group[];
  /** The results that an edit may change. */
  readonly results: readonly PlacedResult[];
  /** For each slot bound to others by calls and results: all slots it is bound to, including itself. */
  readonly bonds: ReadonlyMap<number, readonly number[]>;
  readonly shownContents: readonly ShownContents[];
}

const known = new WeakMap<readonly Slot[], { readonly length: number; readonly index: WindowIndex }>();

/** The cached index of a window. The array may grow afterwards but must not change otherwise. */
export function getWindowIndex(slots: readonly Slot[]): WindowIndex {
  const found = known.get(slots);
  if (found?.length === slots.length) return found.index;
  const index = buildIndex(slots);
  known.set(slots, { length: slots.length, index });
  return index;
}

function buildIndex(slots: readonly Slot[]): WindowIndex {
  const groups = once(() => groupSlots(slots));
  const exchanges = once(() => groupExchanges(slots, groups()));
  const answers = once(() => pairResults(slots));
  const editable = once(() => listEditableResults(slots, answers()));
  const bonds = once(() => findBonds(slots, answers()));
  const showings = once(() => findShownContents(slots, answers()));
  return {
    get groups() {
      return groups();
    },
    get exchanges() {
      return exchanges();
    },
    get results() {
      return editable();
    },
    get bonds() {
      return bonds();
    },
    get shownContents() {
      return showings();
    },
  };
}

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/**
 * Joins the groups of a window into exchanges: the messages before a reply, and the reply with the results of its
 * calls.
 */
function groupExchanges(slots: readonly Slot[], groups: readonly Group[]): readonly Group[] {
  const exchanges: Group[] = [];
  let start = 0;
  for (const { from, to } of groups) {
    if (!listIndexes({ from, to }).some((index) => slots[index]?.message.role === "assistant")) continue;
    exchanges.push({ from: start, to });
    start = to + 1;
  }
  if (start < slots.length) exchanges.push({ from: start, to: slots.length - 1 });
  return exchanges;
}

/** Slot indexes of an exchange. */
function listIndexes({ from, to }: Group): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, offset) => from + offset);
}
