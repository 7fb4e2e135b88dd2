import type { Role } from "../../../kernel/index.ts";
import { finish, type Steps } from "../../../model/base/turns.ts";
import type { WireObject } from "../../../wire/wire.ts";
import type { AgentShape } from "../identity/request-kind.ts";

/** A request body with the positions of its fields and of its list's elements. Values are not parsed. */
export interface CutBody {
  readonly bytes: Buffer;
  /** Top-level values by name. */
  readonly fields: ReadonlyMap<string, ByteRange>;
  /** Start of the list; undefined if the field is absent or not a list. */
  readonly listFrom: number | undefined;
  readonly elements: readonly ByteRange[];
  /** Number of leading elements that are byte-identical to those of `like`. */
  readonly same: number;
  /** The earlier body with the same beginning. */
  readonly like: CutBody | undefined;
  /** The body that it was made from by changes, and the indexes of the elements kept from there, by their positions. */
  readonly kept?: KeptElements | undefined;
  readonly memo: BodyMemo;
  /** The rest of the body, which other bodies share. */
  readonly frame?: BodyFrame | undefined;
  /** Resolves an element that is only a reference to content stored at the provider. */
  readonly referenced?: (id: string) => WireObject | undefined;
  /** Large fields, parsed without their large values. */
  readonly largeFields?: ReadonlyMap<string, unknown> | undefined;
}

/** Lists earlier bodies whose lists may begin like the one at `from`. */
type ListSimilarBodies = (from: number) => readonly CutBody[];

type CutList = Pick<CutBody, "listFrom" | "elements" | "same" | "like">;

interface KeptElements {
  readonly from: CutBody;
  readonly indexes: ReadonlyMap<number, number>;
}

/** The error for a body that is not a JSON object of the form that every API requires. */
export class BodyError extends Error {}

/** The error for a body that a provider may accept, but may read differently than the gateway. */
export class OddBodyError extends BodyError {}

/** Maximum nesting depth. */
const MAX_DEPTH = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/**
 * Locates the fields of a body and the elements of its list. Clients repeat the whole conversation with every request:
 * the part that equals an earlier body is only compared, which is cheap, and only the rest is scanned. `frame` is one
 * that the body begins with.
 */
export function cutBody(
  bytes: Buffer,
  list: string,
  listAlike?: ListSimilarBodies,
  frame?: BodyFrame,
): CutBody {
  return finish(new Cutter(bytes).cut(list, listAlike, frame));
}

/** Like `cutBody`, with a pause after each `STEP_BYTES`, so that a large body does not delay other requests. */
export function cutSteps(
  bytes: Buffer,
  list: string,
  listAlike?: ListSimilarBodies,
  frame?: BodyFrame,
): Steps<CutBody> {
  return new Cutter(bytes).cut(list, listAlike, frame);
}

/** Cuts a body that was made from another one by changes; elements that are slices of that one are not scanned again. */
export function cutChangedBody(pieces: readonly Uint8Array[], list: string, from: CutBody): CutBody {
  const indexes = new Map<number, number>();
  let at = 0;
  let index = 0;
  for (const { buffer, byteOffset, length } of pieces) {
    const start = byteOffset - from.bytes.byteOffset;
    const isSlice = buffer === from.bytes.buffer && start >= 0 && start < from.bytes.length;
    for (let next = from.elements[index]; isSlice && next && next.to <= start + length; ) {
      if (next.from >= start) indexes.set(at + next.from - start, index);
      next = from.elements[++index];
    }
    at += length;
  }
  return finish(new Cutter(Buffer.concat(pieces), false, { from, indexes }).cut(list, undefined));
}

/** Locates the fields of any body, even an odd one; of duplicate fields the last counts, as in most parsers. */
export function oddFieldSteps(bytes: Buffer): Steps<CutBody> {
  return new Cutter(bytes, true).cut("", undefined);
}

const STEP_BYTES = 512 * 1_024;
/** Strings up to this length are read byte by byte; the quotes at the ends of longer ones are searched for. */
const SHORT_BYTES = 64;

class Cutter {
  readonly #bytes: Buffer;
  #at = 0;
  #depth = 0;
  #pauseAt = STEP_BYTES;

  readonly #mayBeOdd: boolean;
  readonly #kept: KeptElements | undefined;

  constructor(bytes: Buffer, mayBeOdd = false, kept?: KeptElements) {
    this.#bytes = bytes;
    this.#mayBeOdd = mayBeOdd;
    this.#kept = kept;
  }

  *cut(
    list: string,
    listAlike: ListSimilarBodies | undefined,
    frame?: BodyFrame | undefined,
  ): Steps<CutBody> {
    const bytes = this.#bytes;
    const fields = new Map<string, ByteRange>();
    let listed: CutList = NO_LIST;
    const hasBegun = frame !== undefined && bytes[frame.before.length] === OPEN_LIST;
    if (hasBegun) {
      for (const [name, range] of frame.fieldsBefore) fields.set(name, range);
      const from = frame.before.length;
      listed = yield* this.#list(from, listAlike?.(from));
      const end = this.#at;
      fields.set(list, { from, to: end });
      if (endsLike(bytes, end, frame)) {
        for (const [name, { from, to }] of frame.fieldsAfter)
          fields.set(name, { from: end + from, to: end + to });
        return { bytes, fields, ...listed, memo: {}, frame };
      }
    } else this.#expect(OPEN_OBJECT);
    for (let isFirst = !hasBegun; this.#next() !== CLOSE_OBJECT; isFirst = false) {
      if (!isFirst) this.#expect(COMMA);
      const name = this.#name();
      if (!this.#mayBeOdd && fields.has(name)) throw duplicateFieldError(name, list);
      this.#expect(COLON);
      this.#next();
      const from = this.#at;
      if (name === list && bytes[from] === OPEN_LIST) listed = yield* this.#list(from, listAlike?.(from));
      else if (!this.#skip()) yield* this.#goOn();
      fields.set(name, { from, to: this.#at });
    }
    this.#at++;
    if (this.#next() !== undefined) throw this.#unexpected();
    return { bytes, fields, ...listed, memo: {}, frame: undefined, kept: this.#kept };
  }

  *#list(from: number, alike: readonly CutBody[] = []): Steps<CutList> {
    let like: CutBody | undefined;
    let same = 0;
    for (const earlier of alike) {
      const shared = countSameElements(this.#bytes, from, earlier, same);
      if (shared > same) [like, same] = [earlier, shared];
    }
    const by = from - (like?.listFrom ?? 0);
    const elements: ByteRange[] = [];
    for (const range of like?.elements.slice(0, same) ?? [])
      elements.push(by === 0 ? range : { from: range.from + by, to: range.to + by });
    this.#at = elements.at(-1)?.to ?? from + 1;
    while (this.#next() !== CLOSE_LIST) {
      if (elements.length > 0) this.#expect(COMMA);
      this.#next();
      const start = this.#at;
      const kept = this.#kept?.from.elements[this.#kept.indexes.get(start) ?? -1];
      if (kept) this.#at = start + kept.to - kept.from;
      else if (!this.#skip()) yield* this.#goOn();
      elements.push({ from: start, to: this.#at });
    }
    this.#at++;
    return { listFrom: from, elements, same, like };
  }

  /** The next byte after white space; undefined at the end. */
  #next(): number | undefined {
    const bytes = this.#bytes;
    for (;;) {
      const byte = bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
      this.#at++;
    }
  }

  #expect(byte: number): void {
    if (this.#next() !== byte) throw this.#unexpected();
    this.#at++;
  }

  #name(): string {
    if (this.#next() !== QUOTE) throw this.#unexpected();
    const from = this.#at;
    this.#string();
    return parseRange(this.#bytes, { from, to: this.#at }) as string;
  }

  #string(): void {
    const bytes = this.#bytes;
    let at = this.#at + 1;
    for (const near = at + SHORT_BYTES; at < near; ) {
      const byte = bytes[at++];
      if (byte === QUOTE) {
        this.#at = at;
        return;
      }
      if (byte === BACKSLASH) at++;
      else if (byte === undefined) throw new BodyError("it ends inside a string");
    }
    for (;;) {
      const quote = bytes.indexOf(QUOTE, at);
      if (quote < 0) throw new BodyError("it ends inside a string");
      let slashes = quote;
      while (slashes > at && bytes[slashes - 1] === BACKSLASH) slashes--;
      at = quote + 1;
      // After an odd number of backslashes, the quote belongs to the text.
      if ((quote - slashes) % 2 === 0) break;
    }
    this.#at = at;
  }

  /** Moves past the value at the current position; false if a pause is due before its end. */
  #skip(): boolean {
    const first = this.#bytes[this.#at];
    if (first === OPEN_OBJECT || first === OPEN_LIST) return this.#nested();
    if (first === QUOTE) this.#string();
    else this.#word();
    return true;
  }

  /** Skips the rest of a nested value, with a pause before each step. */
  *#goOn(): Steps<void> {
    do {
      this.#pauseAt = this.#at + STEP_BYTES;
      yield;
    } while (!this.#nested());
  }

  /** Moves past the end of a nested value; false if a pause is due first. */
  #nested(): boolean {
    const bytes = this.#bytes;
    const pauseAt = this.#pauseAt;
    let depth = this.#depth;
    for (;;) {
      if (this.#at >= pauseAt) {
        this.#depth = depth;
        return false;
      }
      const byte = bytes[this.#at];
      if (byte === QUOTE) {
        this.#string();
        continue;
      }
      this.#at++;
      if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        if (++depth > MAX_DEPTH && !this.#mayBeOdd)
          throw new OddBodyError(`values are nested more than ${MAX_DEPTH} deep`);
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        if (--depth === 0) {
          this.#depth = 0;
          return true;
        }
      } else if (byte === undefined) throw new BodyError("it ends before it is whole");
    }
  }

  /** Moves past a number, true, false or null. */
  #word(): void {
    const from = this.#at;
    const bytes = this.#bytes;
    for (;;) {
      const byte = bytes[this.#at] ?? COMMA;
      if (byte <= 0x20 || byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST) break;
      this.#at++;
    }
    if (this.#at === from) throw this.#unexpected();
  }

  #unexpected(): BodyError {
    return new BodyError(
      this.#at >= this.#bytes.length ? "it ends before it is whole" : `byte ${this.#at} is out of place`,
    );
  }
}

/**
 * The destination and the stored content of a request must not depend on the parser, so duplicates of these fields are
 * errors.
 */
function duplicateFieldError(name: string, list: string): BodyError {
  const message = `the field ${JSON.stringify(name)} stands there twice`;
  return name === list || name === "model" ? new BodyError(message) : new OddBodyError(message);
}

const NO_LIST = { listFrom: undefined, elements: [], same: 0, like: undefined } as const;

/** The value of a field, undefined if absent; the large texts of a large field are cut to their beginnings. */
export function fieldValue({ bytes, fields, largeFields }: CutBody, name: string): unknown {
  const range = fields.get(name);
  if (!range) return undefined;
  return largeFields?.has(name) ? largeFields.get(name) : parseRange(bytes, range);
}

/** The value at a range. */
export function parseRange(bytes: Buffer, { from, to }: ByteRange): unknown {
  try {
    return JSON.parse(bytes.toString("utf8", from, to));
  } catch (error) {
    throw new BodyError(`between bytes ${from} and ${to} it is no JSON`, { cause: error });
  }
}

/** A range of bytes; `to` is exclusive. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Number of leading elements that both lists share, byte for byte; 0 if they are no more than `least`. A binary search,
 * since comparing is cheap and scanning is not.
 */
function countSameElements(bytes: Buffer, from: number, like: CutBody, least: number): number {
  if (like.listFrom === undefined) return 0;
  const ends = like.elements;
  const origin = like.listFrom;
  const isSame = (count: number): boolean => {
    const last = ends[count - 1];
    if (!last) return true;
    const by = from - origin;
    if (last.to + by > bytes.length) return false;
    // Differences are mostly in the last element.
    const isSameEnd = bytes.compare(like.bytes, last.from, last.to, last.from + by, last.to + by) === 0;
    return isSameEnd && bytes.compare(like.bytes, origin, last.from, from, last.from + by) === 0;
  };
  let same = least + 1;
  let beyond = ends.length + 1;
  if (same >= beyond || !isSame(same)) return 0;
  // Only the last few elements usually change; most bodies extend the previous one.
  for (const count of [ends.length, ends.length - 1, ends.length - 2, ends.length - 4]) {
    if (count <= same) break;
    if (isSame(count)) {
      same = count;
      break;
    }
    beyond = count;
  }
  while (beyond - same > 1) {
    const middle = (same + beyond) >> 1;
    if (isSame(middle)) same = middle;
    else beyond = middle;
  }
  return same;
}

/** Everything of a body except its list. An agent repeats it with every request, often in all of its conversations. */
export interface BodyFrame {
  /** The bytes before the list. */
  readonly before: Buffer;
  /** The bytes after the list. */
  readonly after: Buffer;
  /** Top-level values before the list. */
  readonly fieldsBefore: readonly (readonly [name: string, range: ByteRange])[];
  /** Top-level values after the list, counted from its end. */
  readonly fieldsAfter: readonly (readonly [name: string, range: ByteRange])[];
  /** Results that depend on nothing but the frame. */
  readonly memo: FrameMemo;
}

interface FrameMemo {
  fields?: RequestFields;
  /** All models that its fields name. */
  namedModels?: readonly string[];
  /** Facts of the agent, and the bytes of the instruction elements that they were read with. */
  facts?: { readonly lead: Buffer; readonly facts: BodyFacts };
}

/** The frame of a body, with its own copy of the bytes; undefined if the body has no list. */
export function copyFrame(
  { bytes, fields, listFrom }: Pick<CutBody, "bytes" | "fields" | "listFrom">,
  list: string,
): BodyFrame | undefined {
  const end = fields.get(list)?.to;
  if (listFrom === undefined || end === undefined) return undefined;
  const fieldsBefore: [string, ByteRange][] = [];
  const fieldsAfter: [string, ByteRange][] = [];
  for (const [name, { from, to }] of fields) {
    if (to <= listFrom) fieldsBefore.push([name, { from, to }]);
    else if (from >= end) fieldsAfter.push([name, { from: from - end, to: to - end }]);
  }
  return {
    before: copyBytes(bytes.subarray(0, listFrom)),
    after: copyBytes(bytes.subarray(end)),
    fieldsBefore,
    fieldsAfter,
    memo: {},
  };
}

/** True if a body begins with the bytes of a frame, so that its list and the fields before it are at the same places. */
export function beginsLike(bytes: Buffer, { before }: BodyFrame): boolean {
  return bytes.length > before.length && bytes.compare(before, 0, before.length, 0, before.length) === 0;
}

/** True if the rest of a body from `listEnd` on is that of a frame. */
export function endsLike(bytes: Buffer, listEnd: number, { after }: BodyFrame): boolean {
  const hasLength = listEnd >= 0 && bytes.length - listEnd === after.length;
  return hasLength && bytes.compare(after, 0, after.length, listEnd) === 0;
}

/** A copy that does not keep any other bytes in memory. */
export function copyBytes(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** Facts about the agent that sent a body, from its system prompt and tools. */
export interface BodyFacts {
  /** The beginning of the system prompt. */
  readonly lead: string;
  /** The working directory that the system prompt states. */
  readonly project?: string;
  readonly toolNames: readonly string[];
  readonly shape: AgentShape;
}

/** Fields of a request, other than messages, tools and system prompt, that the gateway reads. */
export interface RequestFields {
  /** All short fields. */
  readonly all: WireObject;
  readonly model: string | undefined;
  readonly isStreamed: boolean;
  /** Maximum tokens of the reply. */
  readonly maxTokens: number | undefined;
  /** True if the reply must be JSON of a given form. */
  readonly hasOutputFormat: boolean;
  /** The reply that the request continues, by the provider's id. */
  readonly previousReply: string | undefined;
  /** True if the request contains only new messages. */
  readonly isChained: boolean;
  /** True if a later request with only new messages may refer to the reply of this one. */
  readonly isStoredByProvider: boolean;
}

/** Facts about a message that has been read: the key of its content, and its range of list elements. */
export interface KnownMessage {
  readonly key: string;
  readonly role: Role;
  /** Index among the request's messages. */
  readonly index: number;
  /** Range of elements; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
}

/** A body that is kept, with its messages; `lead` is the number of leading instruction elements. */
export interface KnownBody {
  readonly cut: CutBody;
  readonly lead: number;
  readonly list: readonly KnownMessage[];
}

/** Results about a body that later bodies with the same beginning reuse. */
interface BodyMemo {
  facts?: BodyFacts;
  messages?: KnownBody;
  /** Elements that name compaction blocks. */
  compactionElements?: readonly number[];
  /** Elements with a cache marker. */
  markedElements?: readonly number[];
  /** The pieces that were sent for the body. */
  sentPieces?: readonly OutgoingPiece[];
  additions?: SentAdditions;
}

/** The gateway's additions to a request of a conversation. */
export interface SentAdditions {
  /** True if the person's memories go with it, once there are any. */
  readonly hasMemories: boolean;
  readonly hasTools: boolean;
  /** True if the conversation belongs to the control arm. */
  readonly isControl: boolean;
}

/** A run of outgoing elements: a slice of the received body, or newly written elements. */
export type OutgoingPiece =
  | { readonly from: number; readonly to: number }
  /** `index` is that of the client's first element that they replace, if any; a note is longhaul's own. */
  | { readonly elements: readonly WireObject[]; readonly index?: number; readonly isNote?: true };
