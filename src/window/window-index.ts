import { type Answer, answersOf } from "./answer.ts";
import { bondsBetween } from "./bonds.ts";
import { exchangesOf } from "./exchange.ts";
import { type Group, groupsOf } from "./group.ts";
import type { Slot } from "./slot.ts";
import { type Showing, showingsOf } from "./touch/showing.ts";

/** Structures that passes query repeatedly; each is computed on first use. */
export interface WindowIndex {
  readonly groups: readonly Group[];
  readonly exchanges: readonly Group[];
  readonly answers: readonly Answer[];
  /** For each slot bound to others by calls and results: all slots it is bound to, including itself. */
  readonly bonds: ReadonlyMap<number, readonly number[]>;
  readonly showings: readonly Showing[];
}

const known = new WeakMap<readonly Slot[], { readonly length: number; readonly index: WindowIndex }>();

/** The cached index of a window. The array may grow afterwards but must not change otherwise. */
export function windowIndex(slots: readonly Slot[]): WindowIndex {
  const found = known.get(slots);
  if (found?.length === slots.length) return found.index;
  const index = makeIndex(slots);
  known.set(slots, { length: slots.length, index });
  return index;
}

function makeIndex(slots: readonly Slot[]): WindowIndex {
  const groups = once(() => groupsOf(slots));
  const exchanges = once(() => exchangesOf(slots, groups()));
  const answers = once(() => answersOf(slots));
  const bonds = once(() => bondsBetween(answers()));
  const showings = once(() => showingsOf(slots, answers()));
  return {
    get groups() {
      return groups();
    },
    get exchanges() {
      return exchanges();
    },
    get answers() {
      return answers();
    },
    get bonds() {
      return bonds();
    },
    get showings() {
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
