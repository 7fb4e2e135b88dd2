import type { SeqRange } from "../../../kernel/faces/log.ts";
import type { Entry, EntryId } from "../../../kernel/index.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import type { SessionSurvey } from "./session-survey.ts";

/** A written entry that later entries may refer to. */
export interface WrittenPiEntry {
  readonly id: string;
  /** True if pi lets its content be edited. */
  readonly isEditable: boolean;
  readonly parts: readonly number[];
  readonly blocks: readonly JsonObject[];
  readonly callId?: string;
}

/** Ids of written entries, as far as later entries need them. */
export class PiPlaces {
  readonly #survey: SessionSurvey;
  readonly #line: readonly SeqRange[];
  readonly #tips = new Map<EntryId, string | null>();
  readonly #written = new Map<EntryId, WrittenPiEntry[]>();
  readonly #calls = new Map<string, WrittenPiEntry>();
  readonly #hidden: { readonly place: Entry; readonly id: string }[] = [];
  /** The first written entry after each compacted range; undefined until it is written. */
  readonly #firstAfter = new Map<EntryId, string | undefined>();

  constructor(survey: SessionSurvey, line: readonly SeqRange[]) {
    this.#survey = survey;
    this.#line = line;
  }

  /** Notes an entry that was written for a log entry. */
  addWritten(place: Entry, written: WrittenPiEntry): void {
    const { wanted, wantedCalls, hidden } = this.#survey;
    const { id, callId } = written;
    if (wanted.has(place.id)) this.#written.set(place.id, [...(this.#written.get(place.id) ?? []), written]);
    if (callId !== undefined && wantedCalls.has(callId)) this.#calls.set(callId, written);
    if (written.isEditable && isInRanges(place, hidden)) this.#hidden.push({ place, id });
    for (const [end, known] of this.#firstAfter)
      if (known === undefined && isInRanges(place, this.#line)) this.#firstAfter.set(end, id);
  }

  /** Notes that a log entry is complete; the next entry would follow `tip`. */
  completeEntry(place: Entry, tip: string | null): void {
    if (this.#survey.wanted.has(place.id)) this.#tips.set(place.id, tip);
    if (this.#survey.ends.has(place.id)) this.#firstAfter.set(place.id, undefined);
  }

  /** Returns the last written entry when a log entry was complete. */
  getTip(place: EntryId): string | null | undefined {
    return this.#tips.get(place);
  }

  getWritten(place: EntryId): readonly WrittenPiEntry[] {
    return this.#written.get(place) ?? [];
  }

  getResult(callId: string): WrittenPiEntry | undefined {
    return this.#calls.get(callId);
  }

  getFirstAfter(end: EntryId): string | undefined {
    return this.#firstAfter.get(end);
  }

  findHidden(ranges: readonly SeqRange[]): readonly string[] {
    return this.#hidden.filter(({ place }) => isInRanges(place, ranges)).map(({ id }) => id);
  }
}

function isInRanges({ session, seq }: Entry, ranges: readonly SeqRange[]): boolean {
  return ranges.some((range) => range.session === session && range.from <= seq && seq <= range.to);
}
