import { BoundedMap } from "../../../model/base/bounded-map.ts";

/** Facts about a written entry. */
interface WrittenEntry {
  readonly uuid: string;
  /** The record id that an import of the written line gets. */
  readonly record: string;
  readonly calls: readonly (string | undefined)[];
}

/** Maximum entries and lines to remember. */
const MAX_ENTRIES = 10_000;

/** Remembers recent lines: where the next line attaches, and ids that later entries refer to. */
export class WrittenEntries {
  readonly #entries = new BoundedMap<string, WrittenEntry>({ max: MAX_ENTRIES });
  readonly #lines = new BoundedMap<string, true>({ max: MAX_ENTRIES });
  readonly #callers = new BoundedMap<string, string>({ max: MAX_ENTRIES });
  /** The last line on the active line, and the last line overall. */
  #tip: string | null = null;
  #end: string | null = null;
  #isAtTip = true;
  #newest = 0;

  /** The line that the active line continues from. */
  get tip(): string | null {
    return this.#tip;
  }

  /** True if the last written line is on the active line. */
  get isAtTip(): boolean {
    return this.#isAtTip;
  }

  has(uuid: string): boolean {
    return this.#lines.has(uuid);
  }

  /** Returns the parent of the next line. */
  getParent(isOnLine: boolean): string | null {
    return isOnLine ? this.#tip : this.#end;
  }

  addLine(uuid: string, isOnLine: boolean): void {
    this.#lines.set(uuid, true);
    this.#end = uuid;
    this.#isAtTip = isOnLine;
    if (isOnLine) this.#tip = uuid;
  }

  /** Attaches following lines off the active line to this entry. */
  goBackTo(seq: number): void {
    this.#end = this.#entries.get(String(seq))?.uuid ?? this.#end;
  }

  addEntry(seq: number, entry: WrittenEntry): void {
    this.#entries.set(String(seq), entry);
    this.#newest = Math.max(this.#newest, seq);
  }

  /** Notes the line of a call. */
  addCaller(callId: string, uuid: string): void {
    this.#callers.set(callId, uuid);
  }

  findCaller(callId: string): string | undefined {
    return this.#callers.get(callId);
  }

  findRecord(seq: number): string | undefined {
    return this.#entries.get(String(seq))?.record;
  }

  /** Returns the call id of a tool result in an entry: the one at the index of a part, or else the first. */
  findCall(seq: number, part?: number): string | undefined {
    const calls = this.#entries.get(String(seq))?.calls ?? [];
    return part === undefined ? calls.find((call) => call !== undefined) : calls[part];
  }

  /** Returns the first line of the first message after an entry. */
  findFirstAfter(seq: number): string | undefined {
    for (let next = seq + 1; next <= this.#newest && next <= seq + MAX_ENTRIES; next++) {
      const uuid = this.#entries.get(String(next))?.uuid;
      if (uuid !== undefined) return uuid;
    }
    return undefined;
  }
}
