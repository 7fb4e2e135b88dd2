import type { Json, PartInput } from "../../kernel/index.ts";
import { BoundedMap } from "../../model/base/caches.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { decodeAnthropicBlocks } from "../../wire/anthropic/decode-anthropic.ts";
import { omitFields, toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { splitLeftovers } from "../content/leftovers.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { ForeignEdit, Item, Span } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { buildAssistantRecords, buildGroupId } from "./assistant-records.ts";
import {
  getLineTime,
  getMessageId,
  getRecordId,
  getToolResults,
  type LineKind,
} from "./claude-code-lines.ts";
import type { KnownContents } from "./known-contents.ts";
import {
  type BareRecord,
  buildMessageRecord,
  buildRawRecord,
  FORMAT,
  getKnownFields,
} from "./line-records.ts";
import { MessageCalls } from "./message-calls.ts";
import { OWN_FIELD, parseOwnFields } from "./own-fields.ts";
import { extractCommandOutput, fingerprintProgress, isInResult } from "./progress-lines.ts";
import type { RepeatedFields } from "./repeated-fields.ts";

/** Claude Code's replacement for cleared tool results. */
const CLEARED = "[Old tool result content cleared]";

/** Maximum lines to remember while reading, and in a checkpoint. */
const MAX_LINES = 10_000;
const MAX_TURNINGS = 1_000;
const SAVED_LINES = 100;

/** State that the conversations of one source share. */
export interface SharedState {
  readonly facts: RepeatedFields;
  readonly contents: KnownContents;
  /** Progress reports already seen, by gist. */
  readonly seenReports: BoundedMap<string, true>;
  /** Receives decoded items. */
  readonly emit: (item: Item) => void;
}

/** Assistant messages to remember, to recognize one that continues later than expected. */
const MAX_PIECES = 1_000;
const SAVED_PIECES = 20;

/** Turns the lines of one conversation into records with their parents. */
export class ClaudeCodeConversation {
  readonly #shared: SharedState;
  readonly #childFields: { readonly child?: string };
  readonly #places: ClaudeCodePlaces;
  readonly #pieces: BoundedMap<string, number>;
  /** Calls of the newest assistant message. */
  #calls = new MessageCalls([]);
  #boundary: Boundary | undefined;

  constructor(shared: SharedState, child: string | undefined, state: JsonObject = {}) {
    this.#shared = shared;
    this.#childFields = child === undefined ? {} : { child };
    this.#places = new ClaudeCodePlaces(state.places as Json | undefined);
    this.#pieces = new BoundedMap(
      { max: MAX_PIECES },
      toArray(state.pieces) as readonly (readonly [string, number])[],
    );
    this.#boundary = state.boundary as Boundary | undefined;
  }

  /** Tells whether a line with this id was read before. */
  has(uuid: string): boolean {
    return this.#places.has(uuid);
  }

  /** Tells whether a record branches off from an earlier one. */
  isBranch(record: JsonObject): boolean {
    return this.#places.findBranch(record.parentUuid) !== undefined;
  }

  /** Decodes a complete assistant message. */
  addMessage(lines: readonly LineRecord[]): void {
    const first = lines[0] as LineRecord;
    const { parentUuid } = first.record;
    const branch = this.#places.findBranch(parentUuid);
    const piece = this.#nextPiece(first.record);
    const id = buildGroupId(first, piece);
    this.#places.beginTurn(undefined);
    this.#boundary = undefined;
    const { facts } = this.#shared;
    for (const { record } of lines) facts.learn(record);
    const records = buildAssistantRecords(
      id,
      lines,
      facts,
      branch === undefined ? undefined : (parentUuid as Json),
    );
    this.#emitRecords(
      records,
      lines.flatMap(({ record }) => toText(record.uuid) ?? []),
      branch,
    );
    this.#calls = new MessageCalls(lines);
  }

  /** Decodes any other line; `neighbours` are lines held together with it. */
  addLine(line: LineRecord, kind: LineKind, neighbours: readonly LineRecord[] = []): void {
    this.#shared.facts.learn(line.record);
    switch (kind) {
      case "boundary":
        this.#boundary = toBoundary(line.record, this.#places);
        this.#emitRaw(line);
        break;
      case "progress":
        this.#addProgressLine(line, neighbours);
        break;
      case "other":
        this.#addOtherLine(line);
        break;
      default:
        this.#addUserLine(line, kind);
    }
  }

  /** Skips a line that becomes no record: its followers attach to its parent. */
  skipLine(record: JsonObject): void {
    const uuid = toText(record.uuid);
    if (uuid !== undefined) this.#places.placeBelow(uuid, record.parentUuid);
  }

  toJSON(): { readonly [field: string]: Json } {
    return {
      places: this.#places.toJSON(),
      pieces: this.#pieces.listNewest(SAVED_PIECES).map((pair) => [...pair]),
      ...(this.#boundary && { boundary: this.#boundary as unknown as Json }),
    };
  }

  #addUserLine(line: LineRecord, kind: LineKind): void {
    const { record } = line;
    const { facts } = this.#shared;
    const isSummary = record.isCompactSummary === true;
    const boundary = isSummary ? (this.#boundary ?? toBoundary({}, this.#places)) : undefined;
    this.#boundary = undefined;
    if (parseOwnFields(record[OWN_FIELD])?.summary) this.skipLine(record);
    else {
      const branch =
        isSummary && record.parentUuid === null ? undefined : this.#places.findBranch(record.parentUuid);
      if (branch !== undefined || kind === "prompt") this.#places.beginTurn(record.parentUuid);
      const { rest: left, copiedBytes, caller } = this.#calls.inspectAnswer(record, this.#shared.contents);
      const records = buildUserRecords(
        line,
        facts,
        dropUndefined({
          branch: branch !== undefined ? (record.parentUuid as Json) : undefined,
          rest: left,
          caller,
        }),
      );
      this.#emitRecords(records, getUuids(record), branch);
      this.#emitCopy(copiedBytes);
    }
    const overlay = boundary && buildCompactionRecord(getRecordId(line), record, boundary);
    if (overlay) this.#emitRecords([overlay], []);
  }

  #addOtherLine(line: LineRecord): void {
    const { record } = line;
    if (parseOwnFields(record[OWN_FIELD])?.isRewind) this.#rewind(record);
    else {
      this.#emitRaw(line);
      this.#emitRecords(buildReplacementRecords(getRecordId(line), record), []);
    }
  }

  #addProgressLine(line: LineRecord, neighbours: readonly LineRecord[]): void {
    const { record } = line;
    const output = extractCommandOutput(record);
    const isCopy = output ? isInResult(output, neighbours) : this.#isReported(record);
    if (!isCopy) this.#emitRaw(line);
    else {
      this.skipLine(record);
      this.#emitCopy(line.sizeBytes);
    }
  }

  /** Handles our writer's marker for a rewind that nothing follows yet. */
  #rewind(record: JsonObject): void {
    const to = this.#places.findBranch(record.parentUuid);
    if (typeof to === "string") {
      this.#shared.emit({ type: "rewind", to, ...this.#childFields });
      this.#places.goBack(toText(record.uuid) ?? "", record.parentUuid as string);
    } else this.skipLine(record);
  }

  #isReported(record: JsonObject): boolean {
    const { seenReports: reported } = this.#shared;
    const gist = fingerprintProgress(record);
    const isKnown = reported.has(gist);
    reported.set(gist, true);
    return isKnown;
  }

  #emitRaw(line: LineRecord): void {
    const { record } = line;
    const value = toText(record.uuid) === undefined ? record : this.#omitFacts(record);
    this.#emitRecords([buildRawRecord(getRecordId(line), getLineTime(record), value as Json)], []);
    this.skipLine(record);
  }

  /** Strips repeated fields from a line; the parent id is kept only if it is not the previous line. */
  #omitFacts(record: JsonObject): JsonObject {
    const isElsewhere = record.parentUuid !== null && this.isBranch(record);
    const known = [
      ...(isElsewhere ? [] : ["parentUuid"]),
      ...(record.isSidechain === false ? ["isSidechain"] : []),
    ];
    return this.#shared.facts.getDifferingFields(record, new Set(known)) ?? {};
  }

  #nextPiece(record: JsonObject): number {
    const id = getMessageId(record);
    if (id === undefined) return 1;
    const piece = (this.#pieces.get(id) ?? 0) + 1;
    this.#pieces.set(id, piece);
    return piece;
  }

  #emitCopy(bytes: number): void {
    if (bytes > 0) this.#shared.emit({ type: "copy", bytes });
  }

  #emitRecords(records: readonly BareRecord[], uuids: readonly string[], parent?: string | null): void {
    for (const [index, record] of records.entries()) {
      const isBranch = index === 0 && parent !== undefined;
      this.#shared.emit({ type: "record", ...record, ...this.#childFields, ...(isBranch && { parent }) });
      this.#places.addRecord(record.id, index === 0 ? uuids : []);
    }
  }
}

function getUuids(record: JsonObject): readonly string[] {
  const uuid = toText(record.uuid);
  return uuid === undefined ? [] : [uuid];
}

/** Facts about a line that depend on other lines. */
interface UserLineFacts {
  /** Parent of the line, if it branches off. */
  readonly branch?: Json;
  /** Content of the tool result that the message does not have. */
  readonly rest?: Json;
  /** Id of the line with the call that this line answers. */
  readonly caller?: string;
}

/** Builds the records of a user line: its message, then raw records for content too large for the message's meta. */
function buildUserRecords(
  line: LineRecord,
  facts: RepeatedFields,
  { branch, rest: left, caller }: UserLineFacts,
): readonly BareRecord[] {
  const { record } = line;
  const id = getRecordId(line);
  const message = toObject(record.message) ?? {};
  const { parts, extras } = decodeAnthropicBlocks(message.content, FORMAT);
  const { sourceToolAssistantUUID: named, ...rest } =
    facts.getDifferingFields(record, getKnownFields(record)) ?? {};
  const more = omitFields(message, ["role", "content"]);
  const uuid = toText(record.uuid);
  const { small, large } = splitLeftovers({
    ...rest,
    ...(named !== undefined && named !== caller && { sourceToolAssistantUUID: named }),
    ...(more && { message: more }),
    ...(left !== undefined && { toolUseResult: left }),
  });
  const fields = {
    ...small,
    ...(uuid !== undefined && { uuid }),
    ...(branch !== undefined && { parentUuid: branch }),
    ...(extras && { extras }),
  };
  const isTool = parts.length > 0 && getToolResults(record).length === parts.length;
  const at = toTime(record.timestamp);
  const raws = Object.entries(large ?? {}).map(([field, value]) =>
    buildRawRecord(`${id}:${field}`, at, { of: id, [field]: value }),
  );
  return [buildMessageRecord(record, id, { role: isTool ? "tool" : "user", parts, fields }), ...raws];
}

/** A compaction whose summary has not been read yet. */
interface Boundary {
  /** Spans that leave the window. */
  readonly spans: readonly Span[];
  readonly reason: string;
  readonly tokensBefore?: number;
}

/** Reads a boundary: everything so far leaves, except a preserved segment at the end if the boundary names one. */
function toBoundary(record: JsonObject, places: ClaudeCodePlaces): Boundary {
  const details = toObject(record.compactMetadata) ?? {};
  const trigger = toText(details.trigger);
  const kept = toObject(details.preservedSegment);
  const through = (kept && places.findRecordBefore(kept.headUuid)) ?? places.last;
  return {
    spans: through === undefined ? [] : [{ through }],
    reason: trigger === undefined ? "compaction" : `compaction (${trigger})`,
    ...dropUndefined({ tokensBefore: toNumber(details.preTokens) }),
  };
}

/**
 * Builds the overlay of a compaction. The summary is the one that our writer kept in its own field, else the line's
 * message.
 */
function buildCompactionRecord(id: string, record: JsonObject, boundary: Boundary): BareRecord | undefined {
  const { spans, ...reason } = boundary;
  if (spans.length === 0) return undefined;
  const summary = parseOwnFields(record[OWN_FIELD])?.summary ?? { record: id };
  return buildOverlay(`${id}:compaction`, record, { type: "summarize", spans, ...summary }, reason);
}

/** Builds overlays from a line that replaces or clears tool results. */
function buildReplacementRecords(id: string, record: JsonObject): readonly BareRecord[] {
  if (record.type === "content-replacement") {
    return toArray(record.replacements).flatMap((one) => {
      const { toolUseId, replacement } = toObject(one) ?? {};
      if (typeof toolUseId !== "string") return [];
      return [
        buildReplacement(
          id,
          record,
          toolUseId,
          decodeAnthropicBlocks(replacement, FORMAT).parts,
          "content replaced",
        ),
      ];
    });
  }
  const details = toObject(record.microcompactMetadata);
  if (record.subtype !== "microcompact_boundary" || !details) return [];
  const before = toNumber(details.preTokens);
  const saved = toNumber(details.tokensSaved);
  const tokens = dropUndefined({
    tokensBefore: before,
    tokensAfter: before === undefined || saved === undefined ? undefined : before - saved,
  });
  const calls = toArray(details.compactedToolIds).filter((call) => typeof call === "string");
  return calls.map((call, index) => {
    const parts = [{ type: "text", text: CLEARED } as const];
    // The savings of all calls are reported once.
    return buildReplacement(id, record, call, parts, "microcompaction", index === 0 ? tokens : {});
  });
}

function buildReplacement(
  id: string,
  record: JsonObject,
  callId: string,
  parts: readonly PartInput[],
  reason: string,
  tokens: { readonly tokensBefore?: number; readonly tokensAfter?: number } = {},
): BareRecord {
  const edit: ForeignEdit = { type: "replace", target: { callId }, parts };
  return buildOverlay(`${id}:${callId}`, record, edit, { reason, ...tokens });
}

function buildOverlay(
  id: string,
  record: JsonObject,
  edit: ForeignEdit,
  reason: { readonly reason: string; readonly tokensBefore?: number; readonly tokensAfter?: number },
): BareRecord {
  const at = dropUndefined({ at: toTime(record.timestamp) });
  return { id, ...at, body: { kind: "overlay", edit, ...reason } };
}

/** Position of a line: its record, the record before that one, and its turn. */
interface LinePlace {
  readonly record: string | undefined;
  readonly before: string | undefined;
  readonly turn: number;
}

/**
 * Maps lines to records. Lines name their parents, but one message takes several lines and many lines become no record.
 * A message therefore continues the conversation if its parent belongs to the current turn, whichever line that is;
 * only an older parent makes a branch.
 */
class ClaudeCodePlaces {
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
    return dropUndefined({
      isBegun: this.#isBegun,
      last: this.#last,
      lines: current.map(([uuid, { record = null, before = null }]) => [uuid, record, before]),
      turnings: this.#turnings.listNewest(MAX_TURNINGS).map((pair) => [...pair]),
    });
  }
}
