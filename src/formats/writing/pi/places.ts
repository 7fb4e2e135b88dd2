import type { Entry, EntryId, SeqRange } from "../../../index.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import type { Survey } from "./survey.ts";

/** A written entry that later entries may refer to. */
export interface WrittenEntry {
  readonly id: string;
  /** True if pi lets its content be edited. */
  readonly isEditable: boolean;
  readonly parts: readonly number[];
  readonly blocks: readonly JsonObject[];
  readonly callId?: string;
}

/** Ids of written entries, as far as later entries need them. */
export class Places {
  readonly #survey: Survey;
  readonly #line: readonly SeqRange[];
  readonly #tips = new Map<EntryId, string | null>();
  readonly #written = new Map<EntryId, WrittenEntry[]>();
  readonly #calls = new Map<string, WrittenEntry>();
  readonly #hidden: { readonly place: Entry; readonly id: string }[] = [];
  /** The first written entry after each compacted range; undefined until it is written. */
  readonly #behind = new Map<EntryId, string | undefined>();

  constructor(survey: Survey, line: readonly SeqRange[]) {
    this.#survey = survey;
    this.#line = line;
  }

  /** Notes an entry that was written for a log entry. */
  note(place: Entry, written: WrittenEntry): void {
    const { wanted, wantedCalls, hidden } = this.#survey;
    const { id, callId } = written;
    if (wanted.has(place.id)) this.#written.set(place.id, [...(this.#written.get(place.id) ?? []), written]);
    if (callId !== undefined && wantedCalls.has(callId)) this.#calls.set(callId, written);
    if (written.isEditable && isIn(place, hidden)) this.#hidden.push({ place, id });
    for (const [end, known] of this.#behind)
      if (known === undefined && isIn(place, this.#line)) this.#behind.set(end, id);
  }

  /** Notes that a log entry is complete; the next entry would follow `tip`. */
  leave(place: Entry, tip: string | null): void {
    if (this.#survey.wanted.has(place.id)) this.#tips.set(place.id, tip);
    if (this.#survey.ends.has(place.id)) this.#behind.set(place.id, undefined);
  }

  /** Returns the last written entry when a log entry was complete. */
  tipAt(place: EntryId): string | null | undefined {
    return this.#tips.get(place);
  }

  writtenFor(place: EntryId): readonly WrittenEntry[] {
    return this.#written.get(place) ?? [];
  }

  resultOf(callId: string): WrittenEntry | undefined {
    return this.#calls.get(callId);
  }

  behind(end: EntryId): string | undefined {
    return this.#behind.get(end);
  }

  hiddenIn(ranges: readonly SeqRange[]): readonly string[] {
    return this.#hidden.filter(({ place }) => isIn(place, ranges)).map(({ id }) => id);
  }
}

function isIn({ session, seq }: Entry, ranges: readonly SeqRange[]): boolean {
  return ranges.some((range) => range.session === session && range.from <= seq && seq <= range.to);
}
