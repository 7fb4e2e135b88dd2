import { BoundedMap } from "../../base/bounded-map.ts";
import type { Json } from "../../index.ts";
import { toArray, toObject, toText } from "../../wire/fields.ts";

/** Position of a line: its record, the record before that one, and its turn. */
interface LinePlace {
  readonly record: string | undefined;
  readonly before: string | undefined;
  readonly turn: number;
}

/** Maximum lines to remember while reading, and in a checkpoint. */
const MAX_LINES = 10_000;
const MAX_TURNINGS = 1_000;
const SAVED_LINES = 100;

/**
 * Maps lines to records. Lines name their parents, but one message takes several lines and many lines become no record.
 * A message therefore continues the conversation if its parent belongs to the current turn, whichever line that is;
 * only an older parent makes a branch.
 */
export class ClaudeCodePlaces {
  readonly #lines: BoundedMap<string, LinePlace>;
  /** Parents of prompts: a repeated prompt follows the same record. */
  readonly #turnings: BoundedMap<string, string>;
  #turn = 0;
  #last: string | undefined;
  /** True once a message was read: before, there is nothing to branch from. */
  #isBegun: boolean;

  constructor(state?: Json) {
    const { last, isBegun, lines, turnings } = toObject(state) ?? {};
    this.#last = toText(last);
    this.#isBegun = isBegun === true;
    const saved = toArray(lines) as readonly (readonly [string, string | null, string | null])[];
    this.#lines = new BoundedMap<string, LinePlace>(
      { max: MAX_LINES },
      saved.map(([uuid, record, before]) => {
        return [uuid, { record: record ?? undefined, before: before ?? undefined, turn: 0 }] as const;
      }),
    );
    this.#turnings = new BoundedMap(
      { max: MAX_TURNINGS },
      toArray(turnings) as readonly (readonly [string, string])[],
    );
  }

  /** The newest record. */
  get last(): string | undefined {
    return this.#last;
  }

  has(uuid: string): boolean {
    return this.#lines.has(uuid);
  }

  /**
   * Returns the record that a message with this parent branches off from; null for the beginning; undefined if the
   * message simply continues.
   */
  findBranch(parent: unknown): string | null | undefined {
    if (!this.#isBegun) return undefined;
    if (parent === null) return null;
    if (typeof parent !== "string") return undefined;
    const place = this.#lines.get(parent);
    if (place?.turn === this.#turn) return undefined;
    return place?.record ?? this.#turnings.get(parent);
  }

  /** Starts a turn: the next message no longer continues from earlier lines. */
  beginTurn(parent: unknown): void {
    const record = typeof parent === "string" ? this.#lines.get(parent)?.record : undefined;
    if (record !== undefined) this.#turnings.set(parent as string, record);
    this.#turn++;
    this.#isBegun = true;
  }

  /** Assigns a new record to its lines. */
  addRecord(record: string, uuids: readonly string[]): void {
    for (const uuid of uuids) this.#lines.set(uuid, { record, before: this.#last, turn: this.#turn });
    this.#last = record;
  }

  /** Assigns a line to the newest record. */
  joinLastRecord(uuid: string): void {
    this.#lines.set(uuid, { record: this.#last, before: undefined, turn: this.#turn });
  }

  /** Places a line that the model never sees below its parent: its followers follow the parent. */
  placeBelow(uuid: string, parent: unknown): void {
    const place = typeof parent === "string" ? this.#lines.get(parent) : undefined;
    if (place && place.turn !== this.#turn) this.#lines.set(uuid, place);
    else this.joinLastRecord(uuid);
  }

  /** Continues the conversation from an earlier line, the parent of `uuid`. */
  goBack(uuid: string, parent: string): void {
    const place = this.#lines.get(parent);
    const record = place?.record ?? this.#turnings.get(parent);
    this.#turn++;
    for (const line of [parent, uuid])
      this.#lines.set(line, { record, before: place?.before, turn: this.#turn });
    this.#last = record;
  }

  /** Returns the record before that of a line; undefined if it is unknown. */
  findRecordBefore(uuid: unknown): string | undefined {
    return typeof uuid === "string" ? this.#lines.get(uuid)?.before : undefined;
  }

  toJSON(): Json {
    const current = this.#lines.listNewest(SAVED_LINES).filter(([, { turn }]) => turn === this.#turn);
    return {
      isBegun: this.#isBegun,
      ...(this.#last !== undefined && { last: this.#last }),
      lines: current.map(([uuid, { record = null, before = null }]) => [uuid, record, before]),
      turnings: this.#turnings.listNewest(MAX_TURNINGS).map((pair) => [...pair]),
    };
  }
}
