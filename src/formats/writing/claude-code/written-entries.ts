import { RecentMap } from "../../claude-code/recent-map.ts";

/** What is known of an entry that was written. */
export interface WrittenEntry {
  readonly uuid: string;
  /** The id that the entry's record has when it is read. */
  readonly record: string;
  readonly calls: readonly (string | undefined)[];
}

/** How many entries and lines are remembered. */
const MAX_ENTRIES = 10_000;

/** What was written last: where the next line goes on, and the ids of entries that later ones refer to. */
export class WrittenEntries {
  readonly #entries = new RecentMap<WrittenEntry>(MAX_ENTRIES);
  readonly #lines = new RecentMap<true>(MAX_ENTRIES);
  readonly #callers = new RecentMap<string>(MAX_ENTRIES);
  /** The last line of the active line, and the last line at all. */
  #tip: string | null = null;
  #end: string | null = null;
  #isAtTip = true;
  #newest = 0;

  /** The line that the active line goes on from. */
  get tip(): string | null {
    return this.#tip;
  }

  /** True if the line written last is that of the active line. */
  get isAtTip(): boolean {
    return this.#isAtTip;
  }

  has(uuid: string): boolean {
    return this.#lines.has(uuid);
  }

  /** The line that the next one follows. */
  parent(isOnLine: boolean): string | null {
    return isOnLine ? this.#tip : this.#end;
  }

  wrote(uuid: string, isOnLine: boolean): void {
    this.#lines.set(uuid, true);
    this.#end = uuid;
    this.#isAtTip = isOnLine;
    if (isOnLine) this.#tip = uuid;
  }

  /** What leaves the line from now on goes on from this entry. */
  goBackTo(seq: number): void {
    this.#end = this.#entries.get(String(seq))?.uuid ?? this.#end;
  }

  remember(seq: number, entry: WrittenEntry): void {
    this.#entries.set(String(seq), entry);
    this.#newest = Math.max(this.#newest, seq);
  }

  /** A call was written on a line. */
  called(callId: string, uuid: string): void {
    this.#callers.set(callId, uuid);
  }

  callerOf(callId: string): string | undefined {
    return this.#callers.get(callId);
  }

  recordAt(seq: number): string | undefined {
    return this.#entries.get(String(seq))?.record;
  }

  /** The call whose result is a part of an entry, or its only one. */
  callAt(seq: number, part = 0): string | undefined {
    return this.#entries.get(String(seq))?.calls[part];
  }

  /** The first line of the first message behind an entry. */
  firstAfter(seq: number): string | undefined {
    for (let next = seq + 1; next <= this.#newest && next <= seq + MAX_ENTRIES; next++) {
      const uuid = this.#entries.get(String(next))?.uuid;
      if (uuid !== undefined) return uuid;
    }
    return undefined;
  }
}
