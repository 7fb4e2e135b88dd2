import type { Json } from "../../kernel/index.ts";

/** A range of seqs, both inclusive. */
type LineageRange = readonly [from: number, to: number];

/**
 * The first seq of a stretch that continues from elsewhere, and the seq that it continues from (0: nothing, -1: the
 * anchor).
 */
type Segment = readonly [from: number, parent: number];

const ANCHOR = -1;

interface LineageState {
  readonly tip: number;
  readonly end: number;
  readonly rewound: number | null;
  readonly segments: readonly Segment[];
  readonly moved: readonly (readonly [place: number, seq: number])[];
  readonly versions: readonly (readonly [seq: number, place: number])[];
  readonly anchor: readonly LineageRange[];
}

/**
 * Reconstructs the line of an imported source. Entries follow each other by default, so only exceptions are stored:
 * branches, rewinds, and entries that are newer versions of others.
 */
export class Lineage {
  /** The entry that the next one follows. */
  #tip = 0;
  /** The last appended entry with its own place: its successor needs no segment. */
  #end = 0;
  /** Target of a rewind that nothing has followed yet. */
  #rewound: number | null = null;
  readonly #segments: Segment[] = [];
  /** Place on the line → the entry that is there now. */
  readonly #moved = new Map<number, number>();
  /** Every newer version → the place it took. */
  readonly #placeOf = new Map<number, number>();
  /** A line given entry by entry; everything later continues from it. */
  #anchor: readonly LineageRange[] = [];

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

  /** Returns the stretches of the line from one entry through another, or through the last one. */
  getRangesBetween(from: number, to?: number): readonly LineageRange[] {
    const last = this.#follows === ANCHOR ? this.#end : this.#follows;
    const [first, through] = [this.#place(from), to === undefined ? last : this.#place(to)];
    if (first > through) return [];
    const newer = [...this.#moved].filter(([place]) => first <= place && place <= through);
    return [[first, through], ...newer.map(([, seq]) => [seq, seq] as const)];
  }

  /** Every newer version of a record, with the entry whose place it took. */
  listVersions(): readonly (readonly [seq: number, place: number])[] {
    return [...this.#placeOf];
  }

  /** The entry that the next one follows; 0 if none. */
  get #follows(): number {
    return this.#rewound ?? this.#tip;
  }

  /** Adds an appended entry after `parent`, or after the last entry. */
  add(seq: number, parent?: number): void {
    const follows = parent === undefined ? this.#follows : this.#place(parent);
    if (follows !== this.#end) this.#segments.push([seq, follows]);
    this.#end = seq;
    this.#tip = seq;
    this.#rewound = null;
  }

  /** Notes that a known entry was read again; it matters only after a rewind. */
  touch(seq: number): void {
    const place = this.#place(seq);
    if (this.#rewound !== null) this.#tip = place;
    else if (this.#tip !== ANCHOR || !this.#anchored(place)) this.#tip = Math.max(this.#tip, place);
    this.#rewound = null;
  }

  /** Puts `seq`, a newer version of `old`, in its place. */
  replace(old: number, seq: number): void {
    this.#move(this.#place(old), seq);
    this.touch(seq);
  }

  /** Removes everything after `seq` from the line; 0 removes all. */
  rewind(seq: number): void {
    this.#rewound = this.#place(seq);
  }

  /** Sets the line to exactly these entries. */
  set(seqs: readonly number[]): void {
    this.#anchor = toRanges(seqs.map((seq) => this.#place(seq)));
    this.#tip = ANCHOR;
    this.#rewound = null;
  }

  /** Returns the line, oldest first; undefined if it is the whole log. */
  getRanges(): readonly LineageRange[] | undefined {
    const isPlain = this.#segments.length === 0 && this.#moved.size === 0 && this.#anchor.length === 0;
    if (isPlain && this.#follows === this.#end) return undefined;
    return this.#inPlace(this.#path(this.#follows));
  }

  /** Returns a text that changes when the line must be set again; growth at the end does not count. */
  signature(): string {
    const path = this.getRanges();
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

  #path(tip: number): readonly LineageRange[] {
    const path: LineageRange[] = [];
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

  /** Returns the anchor up to the entry, if the entry is on it. */
  #anchored(seq: number): readonly LineageRange[] | undefined {
    const index = this.#anchor.findIndex(([from, to]) => from <= seq && seq <= to);
    if (index < 0) return undefined;
    const [from] = this.#anchor[index] as LineageRange;
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

  /** Replaces old versions with the newer ones. */
  #inPlace(path: readonly LineageRange[]): readonly LineageRange[] {
    if (this.#moved.size === 0) return path;
    const exceptions = [
      ...new Set([...this.#moved.keys(), ...this.#moved.values(), ...this.#placeOf.keys()]),
    ].sort((a, b) => a - b);
    const placed: LineageRange[] = [];
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

/** The line that a signature stands for; its last stretch may be open. */
export function parseSignature(signature: string, head: number): readonly LineageRange[] {
  const stretches = signature === "" ? [[1]] : (JSON.parse(signature) as readonly (readonly number[])[]);
  return stretches.map(([from = 1, to = head]) => [from, to]);
}

function toRanges(seqs: readonly number[]): readonly LineageRange[] {
  const stretches: LineageRange[] = [];
  for (const seq of seqs) {
    const last = stretches.at(-1);
    if (last && last[1] + 1 === seq) stretches[stretches.length - 1] = [last[0], seq];
    else stretches.push([seq, seq]);
  }
  return stretches;
}
