import { groupsOf } from "../../window/group.ts";
import type { Stretch } from "../../window/live/line-places.ts";
import type { Slot } from "../../window/slot.ts";
import { isSystem } from "../../window/speaker.ts";

/** What a compaction has to leave as it is. */
export interface Keep {
  /** Messages at the end; more where a call would lose its result. 3 by default. */
  readonly lastMessages?: number;
}

/** What a window says besides its messages. */
export interface Marks {
  readonly pins: ReadonlySet<number>;
  readonly summaries: ReadonlySet<number>;
  /** Messages between the first and the others that were too many to be read. */
  readonly unread?: Stretch | undefined;
}

/** What of a session is to be summarised. */
export interface Source {
  /** Messages that came since the last summary, without those that stay. */
  readonly slots: readonly Slot[];
  /** The summary of everything before them. */
  readonly previous?: Slot;
  /** What the new summary stands for: the old one included, pins, system messages and the latest reply left out. */
  readonly stretches: readonly Stretch[];
}

const LAST_MESSAGES = 3;

/**
 * What can be summarised of a window: everything behind the first request of the user and before the last messages, at
 * group boundaries. Undefined if nothing came since the last summary. `slots` are the messages as said, with lasting edits.
 */
export function sourceOf(slots: readonly Slot[], marks: Marks, keep: Keep = {}): Source | undefined {
  const end = endOf(slots, keep.lastMessages ?? LAST_MESSAGES);
  const first = slots.findIndex(({ message, seq }) => message.role === "user" && !marks.summaries.has(seq));
  const previousIndex = slots.findLastIndex(({ seq }, index) => index < end && marks.summaries.has(seq));
  const start = Math.max(first, previousIndex) + 1;
  const system = slots.filter(isSystem).map(({ seq }) => seq);
  const spared = new Set([...marks.pins, ...system, ...latestReply(slots)]);
  const source = slots.slice(start, end).filter(({ seq }) => !spared.has(seq));
  const previous = slots[previousIndex];
  const last = slots[end - 1];
  if (source.length === 0 || !last) return undefined;
  const from = Math.min(
    (previous ?? (source[0] as Slot)).seq,
    marks.unread?.from ?? Number.POSITIVE_INFINITY,
  );
  const pins = slots.filter(({ seq }) => spared.has(seq) && from <= seq && seq <= last.seq);
  return {
    slots: source,
    ...(previous && { previous }),
    stretches: without(
      { from, to: last.seq },
      pins.map(({ seq }) => seq),
    ),
  };
}

/** Places of the latest message of the assistant with its results: it stays, however much was said behind it. */
function latestReply(slots: readonly Slot[]): readonly number[] {
  const latest = slots.findLastIndex(({ message }) => message.role === "assistant");
  const group = groupsOf(slots).find(({ from, to }) => from <= latest && latest <= to);
  return group ? slots.slice(group.from, group.to + 1).map(({ seq }) => seq) : [];
}

/** Index of the first slot that stays at the end. */
function endOf(slots: readonly Slot[], count: number): number {
  const wanted = Math.max(0, slots.length - count);
  const group = groupsOf(slots).find(({ from, to }) => from <= wanted && wanted <= to);
  return group?.from ?? wanted;
}

function without({ from, to }: Stretch, places: readonly number[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let next = from;
  for (const place of [...places].sort((a, b) => a - b)) {
    if (place > next) stretches.push({ from: next, to: place - 1 });
    next = place + 1;
  }
  return next <= to ? [...stretches, { from: next, to }] : stretches;
}
