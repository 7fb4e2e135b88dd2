import type { Json } from "../../index.ts";

/** A stretch of the log, both ends included. */
export type Stretch = readonly [from: number, to: number];

/** Where a stretch that goes on from elsewhere begins, and the seq it goes on from (0: from nothing, -1: the anchor). */
type Segment = readonly [from: number, parent: number];

const ANCHOR = -1;

interface LineageState {
  readonly tip: number;
  readonly end: number;
  readonly rewound: number | null;
  readonly segments: readonly Segment[];
  readonly moved: readonly (readonly [place: number, seq: number])[];
  readonly versions: readonly (readonly [seq: number, place: number])[];
  readonly anchor: readonly Stretch[];
}

/**
 * How the entries of an imported source hang together. Entries follow each other unless something else is said, so only
 * the exceptions are kept: where a branch begins, what was rewound, which entries are newer versions of others.
 */
export class Lineage {
  /** The entry that the next one follows. */
  #tip = 0;
  /** The entry appended last that has a place of its own: what follows it needs no segment. */
  #end = 0;
  /** Set while what came last has been rewound and nothing has followed yet. */
  #rewound: number | null = null;
  readonly #segments: Segment[] = [];
  /** Place in the line → the entry that stands there now. */
  readonly #moved = new Map<number, number>();
  /** Every version that has stood in another's place → that place. */
  readonly #placeOf = new Map<number, number>();
  /** A line given entry by entry, which everything later goes on from. */
  #anchor: readonly Stretch[] = [];

  constructor(state?: Json) {
    if (!state) return;
    const { tip, end, rewound, segments, moved, versions, anchor } = state as unknown as LineageState;
    this.#tip = tip;
    this.#end = end;
    this.#rewound = rewound;
    for (const one of segments) this.#segments.push(one);
    for (const [place, seq] of moved) this.#moved.set(place, seq);
    for (const [seq, place] of versions) this.#placeOf.set(seq, place);
    this.#anchor = anchor;
  }

  /** What stands on the line from one entry through another; through the last one if none is given. */
  between(from: number, to?: number): readonly Stretch[] {
    const last = this.#follows === ANCHOR ? this.#end : this.#follows;
    const [first, through] = [this.#place(from), to === undefined ? last : this.#place(to)];
    if (first > through) return [];
    const newer = [...this.#moved].filter(([place]) => first <= place && place <= through);
    return [[first, through], ...newer.map(([, seq]) => [seq, seq] as const)];
  }

  /** The entry that the next one follows; 0 for none. */
  get #follows(): number {
    return this.#rewound ?? this.#tip;
  }

  /** An entry was appended; it follows `parent`, or what came last. */
  add(seq: number, parent?: number): void {
    const follows = parent === undefined ? this.#follows : this.#place(parent);
    if (follows !== this.#end) this.#segments.push([seq, follows]);
    this.#end = seq;
    this.#tip = seq;
    this.#rewound = null;
  }

  /** An entry that is known already was met again, as when a source is read anew: only after a rewind does that matter. */
  touch(seq: number): void {
    const place = this.#place(seq);
    if (this.#rewound !== null) this.#tip = place;
    else if (this.#tip !== ANCHOR || !this.#anchored(place)) this.#tip = Math.max(this.#tip, place);
    this.#rewound = null;
  }

  /** `seq` was appended as a newer version of `old` and stands in its place. */
  replace(old: number, seq: number): void {
    this.#move(this.#place(old), seq);
    this.touch(seq);
  }

  /** What came after `seq` leaves the line; 0 leaves nothing. */
  rewind(seq: number): void {
    this.#rewound = this.#place(seq);
  }

  /** The line consists of exactly these entries. */
  set(seqs: readonly number[]): void {
    this.#anchor = stretchesOf(seqs.map((seq) => this.#place(seq)));
    this.#tip = ANCHOR;
    this.#rewound = null;
  }

  /** The line, oldest first; undefined while it is simply everything. */
  stretches(): readonly Stretch[] | undefined {
    const isPlain = this.#segments.length === 0 && this.#moved.size === 0 && this.#anchor.length === 0;
    if (isPlain && this.#follows === this.#end) return undefined;
    return this.#inPlace(this.#path(this.#follows));
  }

  /** Changes when the line has to be chosen anew: what merely goes on at its end does not count. */
  signature(): string {
    const path = this.stretches();
    if (!path) return "";
    const isOpen = this.#rewound === null && this.#tip === this.#end;
    return JSON.stringify(
      path.map(([from, to], index) => (isOpen && index === path.length - 1 ? [from] : [from, to])),
    );
  }

  toJSON(): Json {
    return {
      tip: this.#tip,
      end: this.#end,
      rewound: this.#rewound,
      segments: this.#segments.map((segment) => [...segment]),
      moved: [...this.#moved].map((pair) => [...pair]),
      versions: [...this.#placeOf].map((pair) => [...pair]),
      anchor: this.#anchor.map((stretch) => [...stretch]),
    };
  }

  #move(place: number, seq: number): void {
    this.#moved.set(place, seq);
    this.#placeOf.set(seq, place);
  }

  #place(seq: number): number {
    return this.#placeOf.get(seq) ?? seq;
  }

  #path(tip: number): readonly Stretch[] {
    const path: Stretch[] = [];
    for (let at = tip; at !== 0; ) {
      if (at === ANCHOR) return [...this.#anchor, ...path];
      const cut = this.#anchored(at);
      if (cut) return [...cut, ...path];
      const [from, parent] = this.#segmentOf(at);
      path.unshift([from, at]);
      at = parent;
    }
    return path;
  }

  /** The anchor up to an entry that is on it, if no later segment holds the entry. */
  #anchored(seq: number): readonly Stretch[] | undefined {
    const index = this.#anchor.findIndex(([from, to]) => from <= seq && seq <= to);
    if (index < 0) return undefined;
    const [from] = this.#anchor[index] as Stretch;
    return [...this.#anchor.slice(0, index), [from, seq]];
  }

  #segmentOf(seq: number): Segment {
    let low = 0;
    let high = this.#segments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#segments[middle] as Segment)[0] <= seq) low = middle + 1;
      else high = middle;
    }
    return this.#segments[low - 1] ?? [1, 0];
  }

  /** Puts newer versions in the places of what they replaced. */
  #inPlace(path: readonly Stretch[]): readonly Stretch[] {
    if (this.#moved.size === 0) return path;
    const exceptions = [
      ...new Set([...this.#moved.keys(), ...this.#moved.values(), ...this.#placeOf.keys()]),
    ].sort((a, b) => a - b);
    const placed: Stretch[] = [];
    for (const [from, to] of path) {
      let next = from;
      for (const seq of exceptions) {
        if (seq < from || seq > to) continue;
        if (next < seq) placed.push([next, seq - 1]);
        const standing = this.#moved.get(seq);
        if (standing !== undefined) placed.push([standing, standing]);
        next = seq + 1;
      }
      if (next <= to) placed.push([next, to]);
    }
    return placed;
  }
}

function stretchesOf(seqs: readonly number[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const seq of seqs) {
    const last = stretches.at(-1);
    if (last && last[1] + 1 === seq) stretches[stretches.length - 1] = [last[0], seq];
    else stretches.push([seq, seq]);
  }
  return stretches;
}
