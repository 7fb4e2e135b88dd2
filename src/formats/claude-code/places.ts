import type { Json } from "../../index.ts";
import { arrayOf, objectOf, textOf } from "../content/fields.ts";
import { RecentMap } from "./recent-map.ts";

/** Where a line stands: the record it belongs to, the record before that one, and in which turn it came. */
interface Place {
  readonly record: string | undefined;
  readonly before: string | undefined;
  readonly turn: number;
}

/** Lines that are remembered while reading, and over a checkpoint. */
const MAX_LINES = 10_000;
const MAX_TURNINGS = 1_000;
const SAVED_LINES = 100;

/**
 * Which record each line belongs to. Lines name their parents, but one message takes several lines and many lines become
 * no record: a message goes on with the conversation if its parent belongs to the current turn, whichever line that is;
 * only a parent further back makes a branch.
 */
export class Places {
  readonly #lines: RecentMap<Place>;
  /** What prompts followed: a prompt that is said anew follows the same. */
  readonly #turnings: RecentMap<string>;
  #turn = 0;
  #last: string | undefined;
  /** There was a message: only from then on there is something to leave. */
  #isBegun: boolean;

  constructor(state?: Json) {
    const { last, isBegun, lines, turnings } = objectOf(state) ?? {};
    this.#last = textOf(last);
    this.#isBegun = isBegun === true;
    const saved = arrayOf(lines) as readonly (readonly [string, string | null, string | null])[];
    this.#lines = new RecentMap(
      MAX_LINES,
      saved.map(([uuid, record, before]) => {
        return [uuid, { record: record ?? undefined, before: before ?? undefined, turn: 0 }] as const;
      }),
    );
    this.#turnings = new RecentMap(MAX_TURNINGS, arrayOf(turnings) as readonly (readonly [string, string])[]);
  }

  /** The record made last. */
  get last(): string | undefined {
    return this.#last;
  }

  has(uuid: string): boolean {
    return this.#lines.has(uuid);
  }

  /** The record that a message with this parent branches off from; null for none at all; undefined if it just goes on. */
  branchAt(parent: unknown): string | null | undefined {
    if (!this.#isBegun) return undefined;
    if (parent === null) return null;
    if (typeof parent !== "string") return undefined;
    const place = this.#lines.get(parent);
    if (place?.turn === this.#turn) return undefined;
    return place?.record ?? this.#turnings.get(parent);
  }

  /** A turn begins: what came before it is no longer what the next message follows. */
  begin(parent: unknown): void {
    const record = typeof parent === "string" ? this.#lines.get(parent)?.record : undefined;
    if (record !== undefined) this.#turnings.set(parent as string, record);
    this.#turn++;
    this.#isBegun = true;
  }

  /** A record was made of these lines. */
  made(record: string, uuids: readonly string[]): void {
    for (const uuid of uuids) this.#lines.set(uuid, { record, before: this.#last, turn: this.#turn });
    this.#last = record;
  }

  /** A line belongs to the record made last. */
  joins(uuid: string): void {
    this.#lines.set(uuid, { record: this.#last, before: undefined, turn: this.#turn });
  }

  /** A line that says nothing to the model hangs below another: who follows it follows that one. */
  hangs(uuid: string, parent: unknown): void {
    const place = typeof parent === "string" ? this.#lines.get(parent) : undefined;
    if (place && place.turn !== this.#turn) this.#lines.set(uuid, place);
    else this.joins(uuid);
  }

  /** The conversation goes on from a line further back, which `uuid` hangs below. */
  goBack(uuid: string, parent: string): void {
    const place = this.#lines.get(parent);
    const record = place?.record ?? this.#turnings.get(parent);
    this.#turn++;
    for (const line of [parent, uuid])
      this.#lines.set(line, { record, before: place?.before, turn: this.#turn });
    this.#last = record;
  }

  /** The record before that of a line; undefined if it is not known. */
  before(uuid: unknown): string | undefined {
    return typeof uuid === "string" ? this.#lines.get(uuid)?.before : undefined;
  }

  toJSON(): Json {
    const current = this.#lines.newest(SAVED_LINES).filter(([, { turn }]) => turn === this.#turn);
    return {
      isBegun: this.#isBegun,
      ...(this.#last !== undefined && { last: this.#last }),
      lines: current.map(([uuid, { record = null, before = null }]) => [uuid, record, before]),
      turnings: this.#turnings.newest(MAX_TURNINGS).map((pair) => [...pair]),
    };
  }
}
