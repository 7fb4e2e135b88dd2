import type { Json } from "../../index.ts";
import { arrayOf, textOf } from "../content/fields.ts";
import type { Item } from "../item.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { assistantRecords, groupIdOf } from "./assistant-group.ts";
import { Calls } from "./calls.ts";
import { type Boundary, boundaryOf, compactionRecord, replacementRecords } from "./compaction.ts";
import type { KnownContents } from "./known-contents.ts";
import { type BareRecord, rawRecord } from "./line-records.ts";
import { type LineKind, messageIdOf, recordIdOf, timeOfLine } from "./lines.ts";
import { OWN_FIELD, ownFieldsOf } from "./own-fields.ts";
import { Places } from "./places.ts";
import { commandOutputOf, gistOf, isInResult } from "./progress.ts";
import { RecentMap } from "./recent-map.ts";
import type { RepeatedFields } from "./repeated-fields.ts";
import { userRecords } from "./user-line.ts";

/** State that the conversations of one source share. */
export interface Shared {
  readonly facts: RepeatedFields;
  readonly contents: KnownContents;
  /** Progress reports already seen, by gist. */
  readonly reported: RecentMap<true>;
  /** Receives decoded items. */
  readonly tell: (item: Item) => void;
}

/** Assistant messages to remember, to recognize one that continues later than expected. */
const MAX_PIECES = 1_000;
const SAVED_PIECES = 20;

/** Turns the lines of one conversation into records with their parents. */
export class Conversation {
  readonly #shared: Shared;
  readonly #ofChild: { readonly child?: string };
  readonly #places: Places;
  readonly #pieces: RecentMap<number>;
  /** Calls of the newest assistant message. */
  #calls = new Calls([]);
  #boundary: Boundary | undefined;

  constructor(shared: Shared, child: string | undefined, state: JsonObject = {}) {
    this.#shared = shared;
    this.#ofChild = child === undefined ? {} : { child };
    this.#places = new Places(state.places as Json | undefined);
    this.#pieces = new RecentMap(MAX_PIECES, arrayOf(state.pieces) as readonly (readonly [string, number])[]);
    this.#boundary = state.boundary as Boundary | undefined;
  }

  /** Tells whether a line with this id was read before. */
  has(uuid: string): boolean {
    return this.#places.has(uuid);
  }

  /** Tells whether a record branches off from an earlier one. */
  isBranch(record: JsonObject): boolean {
    return this.#places.branchAt(record.parentUuid) !== undefined;
  }

  /** Decodes a complete assistant message. */
  message(lines: readonly LineRecord[]): void {
    const first = lines[0] as LineRecord;
    const { parentUuid } = first.record;
    const branch = this.#places.branchAt(parentUuid);
    const piece = this.#nextPiece(first.record);
    const id = groupIdOf(first, piece);
    this.#places.begin(undefined);
    this.#boundary = undefined;
    const { facts } = this.#shared;
    for (const { record } of lines) facts.learn(record);
    const records = assistantRecords(
      id,
      lines,
      facts,
      branch === undefined ? undefined : (parentUuid as Json),
    );
    this.#made(
      records,
      lines.flatMap(({ record }) => textOf(record.uuid) ?? []),
      branch,
    );
    this.#calls = new Calls(lines);
  }

  /** Decodes any other line; `neighbours` are lines held together with it. */
  line(line: LineRecord, kind: LineKind, neighbours: readonly LineRecord[] = []): void {
    this.#shared.facts.learn(line.record);
    switch (kind) {
      case "boundary":
        this.#boundary = boundaryOf(line.record, this.#places);
        this.#raw(line);
        break;
      case "progress":
        this.#progress(line, neighbours);
        break;
      case "other":
        this.#other(line);
        break;
      default:
        this.#user(line, kind);
    }
  }

  /** Skips a line that becomes no record: its followers attach to its parent. */
  pass(record: JsonObject): void {
    const uuid = textOf(record.uuid);
    if (uuid !== undefined) this.#places.hangs(uuid, record.parentUuid);
  }

  toJSON(): { readonly [field: string]: Json } {
    return {
      places: this.#places.toJSON(),
      pieces: this.#pieces.newest(SAVED_PIECES).map((pair) => [...pair]),
      ...(this.#boundary && { boundary: this.#boundary as unknown as Json }),
    };
  }

  #user(line: LineRecord, kind: LineKind): void {
    const { record } = line;
    const { facts } = this.#shared;
    const isSummary = record.isCompactSummary === true;
    const boundary = isSummary ? (this.#boundary ?? boundaryOf({}, this.#places)) : undefined;
    this.#boundary = undefined;
    if (ownFieldsOf(record[OWN_FIELD])?.summary) this.pass(record);
    else {
      const branch =
        isSummary && record.parentUuid === null ? undefined : this.#places.branchAt(record.parentUuid);
      if (branch !== undefined || kind === "prompt") this.#places.begin(record.parentUuid);
      const { left, copiedBytes, caller } = this.#calls.answer(record, this.#shared.contents);
      const records = userRecords(line, facts, {
        ...(branch !== undefined && { branch: record.parentUuid as Json }),
        ...(left !== undefined && { left }),
        ...(caller !== undefined && { caller }),
      });
      this.#made(records, uuidsOf(record), branch);
      this.#copied(copiedBytes);
    }
    const overlay = boundary && compactionRecord(recordIdOf(line), record, boundary);
    if (overlay) this.#made([overlay], []);
  }

  #other(line: LineRecord): void {
    const { record } = line;
    if (ownFieldsOf(record[OWN_FIELD])?.isRewind) this.#rewind(record);
    else {
      this.#raw(line);
      this.#made(replacementRecords(recordIdOf(line), record), []);
    }
  }

  #progress(line: LineRecord, neighbours: readonly LineRecord[]): void {
    const { record } = line;
    const output = commandOutputOf(record);
    const isCopy = output ? isInResult(output, neighbours) : this.#isReported(record);
    if (!isCopy) this.#raw(line);
    else {
      this.pass(record);
      this.#copied(line.sizeBytes);
    }
  }

  /** Handles our writer's marker for a rewind that nothing follows yet. */
  #rewind(record: JsonObject): void {
    const to = this.#places.branchAt(record.parentUuid);
    if (typeof to === "string") {
      this.#shared.tell({ type: "rewind", to, ...this.#ofChild });
      this.#places.goBack(textOf(record.uuid) ?? "", record.parentUuid as string);
    } else this.pass(record);
  }

  #isReported(record: JsonObject): boolean {
    const { reported } = this.#shared;
    const gist = gistOf(record);
    const isKnown = reported.has(gist);
    reported.set(gist, true);
    return isKnown;
  }

  #raw(line: LineRecord): void {
    const { record } = line;
    const value = textOf(record.uuid) === undefined ? record : this.#withoutFacts(record);
    this.#made([rawRecord(recordIdOf(line), timeOfLine(record), value as Json)], []);
    this.pass(record);
  }

  /** Strips repeated fields from a line; the parent id is kept only if it is not the previous line. */
  #withoutFacts(record: JsonObject): JsonObject {
    const isElsewhere = record.parentUuid !== null && this.isBranch(record);
    const known = [
      ...(isElsewhere ? [] : ["parentUuid"]),
      ...(record.isSidechain === false ? ["isSidechain"] : []),
    ];
    return this.#shared.facts.besides(record, new Set(known)) ?? {};
  }

  #nextPiece(record: JsonObject): number {
    const id = messageIdOf(record);
    if (id === undefined) return 1;
    const piece = (this.#pieces.get(id) ?? 0) + 1;
    this.#pieces.set(id, piece);
    return piece;
  }

  #copied(bytes: number): void {
    if (bytes > 0) this.#shared.tell({ type: "copy", bytes });
  }

  #made(records: readonly BareRecord[], uuids: readonly string[], parent?: string | null): void {
    for (const [index, record] of records.entries()) {
      const isBranch = index === 0 && parent !== undefined;
      this.#shared.tell({ type: "record", ...record, ...this.#ofChild, ...(isBranch && { parent }) });
      this.#places.made(record.id, index === 0 ? uuids : []);
    }
  }
}

function uuidsOf(record: JsonObject): readonly string[] {
  const uuid = textOf(record.uuid);
  return uuid === undefined ? [] : [uuid];
}
