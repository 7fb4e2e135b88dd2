import { isDeepStrictEqual } from "node:util";
import type { CallerMessage, PlacedMessage, PlacedMessages } from "../../../kernel/calls/conversation.ts";
import { estimateText, type Slot } from "../../../kernel/faces/window.ts";
import {
  type EntryId,
  type FittedWindow,
  formatEntryId,
  type Message,
  type MessageInput,
  type SessionId,
} from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { removeElementMarks } from "../../../wire/block-content.ts";
import type { LoadBase64, LoggedContent, Wire, WireObject } from "../../../wire/wire.ts";
import {
  type ByteRange,
  type CutBody,
  type KnownBody,
  type KnownMessage,
  type OutgoingPiece,
  parseRange,
} from "../request/cut-body.ts";
import { buildSummaryElement, type CompactionBlocks } from "../request/find-compactions.ts";
import { parseElement, type RequestMessage, type RequestMessages } from "../request/request-messages.ts";
import { alternatePieces } from "./alternate-pieces.ts";

/** Cache of encoded messages, by message; messages of a window stay the same objects from call to call. */
export class EncodedMessages {
  readonly #encoded = new Map<Message, { readonly to: number; readonly elements: readonly WireObject[] }>();

  /** Drops messages encoded from elements that have changed. */
  keepFirst(same: number): void {
    for (const [message, { to }] of this.#encoded) if (to > same) this.#encoded.delete(message);
  }

  /** Drops messages that are no longer sent. */
  keepOnly(outgoing: readonly OutgoingSlot[]): void {
    const sent = new Set(outgoing.map((one) => (one.type === "same" ? undefined : one.message)));
    for (const message of this.#encoded.keys()) if (!sent.has(message)) this.#encoded.delete(message);
  }

  async encode(
    api: Wire,
    { cut, list }: RequestMessages,
    one: Exclude<OutgoingSlot, { type: "same" }>,
    base64Of: LoadBase64,
  ): Promise<readonly WireObject[]> {
    const known = this.#encoded.get(one.message);
    if (known) return known.elements;
    const place = one.type === "note" ? undefined : list[one.index];
    const own = place &&
      one.type === "changed" && {
        elements:
          place.written ??
          Array.from({ length: place.to - place.from }, (_, at) => parseElement(cut, place.from + at)),
        original: one.original,
      };
    const elements = await api.encodeEdited(one.message, own || undefined, base64Of);
    this.#encoded.set(one.message, { to: place?.to ?? 0, elements });
    return elements;
  }
}

/** The elements of a window; unchanged elements are joined into the longest possible slices. */
export async function buildOutgoingPieces(
  api: Wire,
  messages: RequestMessages,
  outgoing: readonly OutgoingSlot[],
  written: EncodedMessages,
  base64Of: LoadBase64,
): Promise<readonly OutgoingPiece[]> {
  const pieces: OutgoingPiece[] = [];
  const add = (from: number, to: number) => {
    const last = pieces.at(-1);
    if (last && "from" in last && isNext(messages, last.to, from))
      pieces[pieces.length - 1] = { from: last.from, to };
    else if (to > from) pieces.push({ from, to });
  };
  add(0, messages.lead);
  for (const one of outgoing) {
    if (one.type === "same") {
      const message = messages.list[one.index];
      if (message?.written) pieces.push(buildWrittenPiece(message.written, message));
      else if (message) add(message.from, message.to);
    } else {
      const elements = await written.encode(api, messages, one, base64Of);
      const index = one.type === "changed" ? messages.list[one.index]?.from : undefined;
      const isNote = one.type === "note" ? one.isNote : undefined;
      if (elements.length > 0) pieces.push({ elements, ...dropUndefined({ index, isNote }) });
    }
  }
  written.keepOnly(outgoing);
  return api.name === "openai-chat" ? completeReasoning(messages.cut, pieces) : pieces;
}

const REASONING_FIELD = "reasoning_content";

/**
 * Gives each written reply an empty field of reasoning where the conversation has that field: DeepSeek refuses a request
 * with tools in which a single reply lacks it.
 */
function completeReasoning({ bytes }: CutBody, pieces: readonly OutgoingPiece[]): readonly OutgoingPiece[] {
  const isBare = ({ role, reasoning_content }: WireObject) =>
    role === "assistant" && reasoning_content === undefined;
  const hasBare = pieces.some((piece) => !("from" in piece) && piece.elements.some(isBare));
  if (!hasBare || !bytes.includes(`"${REASONING_FIELD}"`)) return pieces;
  return pieces.map((piece) =>
    "from" in piece || !piece.elements.some(isBare)
      ? piece
      : {
          ...piece,
          elements: piece.elements.map((one) => (isBare(one) ? { ...one, [REASONING_FIELD]: "" } : one)),
        },
  );
}

/** A piece for rewritten elements; it has no index if it replaces no element of the body. */
function buildWrittenPiece(
  elements: readonly WireObject[],
  { from, to }: Pick<RequestMessage, "from" | "to">,
): OutgoingPiece {
  return { elements, ...(to > from && { index: from }) };
}

/** True if no message or dropped element lies between two elements. */
function isNext({ list, lead, dropped: left }: RequestMessages, end: number, from: number): boolean {
  if (end === from) return true;
  if (left) for (let index = end; index < from; index++) if (left.has(index)) return false;
  return from > end && !list.some((message) => message.from >= end && message.to <= from) && end >= lead;
}

/** The elements of pieces, parsed. */
export function listPieceElements(cut: CutBody, pieces: readonly OutgoingPiece[]): readonly WireObject[] {
  return pieces.flatMap((piece) =>
    "from" in piece
      ? Array.from({ length: piece.to - piece.from }, (_, index) => parseElement(cut, piece.from + index))
      : piece.elements,
  );
}

/** The bytes of a list of pieces, without copying: requests are large and wait long for their replies. */
export function encodePieces(
  { bytes, elements }: CutBody,
  pieces: readonly OutgoingPiece[],
): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (const piece of pieces) {
    parts.push(parts.length === 0 ? OPEN : COMMA);
    if ("from" in piece) {
      const first = elements[piece.from] as ByteRange;
      const last = elements[piece.to - 1] as ByteRange;
      parts.push(bytes.subarray(first.from, last.to));
    } else parts.push(encodeElements(piece.elements));
  }
  if (parts.length === 0) parts.push(OPEN);
  parts.push(CLOSE);
  return parts;
}

/** Newly written elements are sent with many later requests, so their bytes are cached. */
const knownBytes = new WeakMap<readonly WireObject[], Buffer>();

function encodeElements(elements: readonly WireObject[]): Buffer {
  const bytes = knownBytes.get(elements) ?? Buffer.from(elements.map((one) => JSON.stringify(one)).join(","));
  knownBytes.set(elements, bytes);
  return bytes;
}

const OPEN = Buffer.from("[");
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");

/**
 * The elements of a body with exactly the edits of an earlier one; undefined if that one had no edits, or if the body
 * does not extend it. Only the body's own cache markers are kept.
 */
export function repeatSentPieces(
  messages: RequestMessages,
  earlier: KnownBody,
): readonly OutgoingPiece[] | undefined {
  const { cut } = messages;
  const known = earlier.cut.memo.sentPieces;
  const from = earlier.cut.elements.length;
  if (!known || !isExtension(messages, earlier)) return undefined;
  const pieces = known.map((piece) =>
    "from" in piece ? piece : { ...piece, elements: piece.elements.map(removeElementMarks) },
  );
  return from < cut.elements.length ? [...pieces, { from, to: cut.elements.length }] : pieces;
}

/** True if a body begins with all messages of an earlier one. */
export function isExtension({ cut, lead, list }: RequestMessages, earlier: KnownBody): boolean {
  const isMore = lead === earlier.lead && earlier.list.every((own, at) => isSame(own, list[at]));
  return isMore && cut.elements.length >= earlier.cut.elements.length;
}

function isSame(one: KnownMessage, other: KnownMessage | undefined): boolean {
  return other?.key === one.key && other.from === one.from && other.to === one.to;
}

/**
 * Rewrites a request for a provider without compaction blocks: the last summary as a user message, and everything after
 * it.
 */
export function buildPlainPieces(
  { elements }: CutBody,
  { last, stripped: bare }: CompactionBlocks,
): readonly OutgoingPiece[] {
  const pieces: OutgoingPiece[] = last ? [{ elements: [buildSummaryElement(last.text)] }] : [];
  for (let index = last?.element ?? 0; index < elements.length; index++) {
    const before = pieces.at(-1);
    if (bare.has(index)) {
      const element = index === last?.element ? last.rest : bare.get(index);
      if (element) pieces.push({ elements: [element], index });
    } else if (before && "from" in before && before.to === index)
      pieces[pieces.length - 1] = { from: before.from, to: index + 1 };
    else pieces.push({ from: index, to: index + 1 });
  }
  return pieces;
}

/** A conversation rebuilt from the log, for a request that contains only new messages. */
interface LoggedConversation
  extends OutgoingSource<RequestMessage>,
    Pick<FittedWindow, "slots" | "messages"> {
  readonly client: RequestMessages;
  /** Instructions that precede all messages. */
  readonly lead: readonly MessageInput[];
}

/** The elements of a fitted window: the client's own messages unchanged, and everything before them from the log. */
export async function buildPiecesFromLog(
  api: Wire,
  conversation: LoggedConversation,
  bytes: LoggedContent,
): Promise<readonly OutgoingPiece[]> {
  const { slots, client: messages, lead } = conversation;
  const write = (message: Message) => api.encodeLogged?.(message, bytes) ?? Promise.resolve([]);
  const edited = async (message: Message, original: Message, own?: readonly WireObject[]) =>
    api.encodeEdited(message, { elements: own ?? (await write(original)), original }, bytes.loadBase64);
  const pieces: OutgoingPiece[] = [];
  const add = (elements: readonly WireObject[], index?: number, isNote?: true) => {
    if (elements.length > 0) pieces.push({ elements, ...dropUndefined({ index, isNote }) });
  };
  for (const message of lead) add(await write(message as Message));
  for (const [place, one] of planOutgoing(conversation).entries()) {
    const { isNote, logged, original = logged } = slots[place] as (typeof slots)[number];
    if (one.type === "same")
      for (const piece of buildClientPieces(api, messages, one.index)) pieces.push(piece);
    else if (one.type === "changed") {
      const own = getClientElements(api, messages, one.index);
      add(await edited(one.message, one.original, own), messages.list[one.index]?.from);
    } else if (isNote)
      add(await api.encodeEdited(one.message, undefined, bytes.loadBase64), undefined, isNote);
    else add(await edited(one.message, logged ?? original ?? one.message));
  }
  return alternatePieces(api.name, messages, pieces);
}

/** True if the pieces include messages of the request; another process may have changed the line meanwhile. */
export function hasClientPieces({ list }: RequestMessages, pieces: readonly OutgoingPiece[]): boolean {
  return list.length === 0 || pieces.some((piece) => "from" in piece || piece.index !== undefined);
}

/** A message of the client, unchanged. */
function buildClientPieces(api: Wire, messages: RequestMessages, index: number): readonly OutgoingPiece[] {
  const { from = 0, to = 0 } = messages.list[index] ?? {};
  if (to > from) return [{ from, to }];
  return [{ elements: getClientElements(api, messages, index), index }];
}

/** The client's elements of a message; plain text counts as one element. */
function getClientElements(api: Wire, { cut, list }: RequestMessages, index: number): readonly WireObject[] {
  const { from = 0, to = 0 } = list[index] ?? {};
  const range = cut.fields.get(api.messagesField);
  if (to === from)
    return range && cut.listFrom === undefined
      ? [{ role: "user", content: parseRange(cut.bytes, range) }]
      : [];
  return cut.elements.slice(from, to).map((element) => parseRange(cut.bytes, element) as WireObject);
}

export function countTexts(texts: Iterable<string>): number {
  return [...texts].reduce((sum, text) => sum + estimateText(text), 0);
}

/** The texts whose message is sent, by the index of the message; all of them if the request is sent unchanged. */
export function findSentTexts(
  { list }: RequestMessages,
  pieces: readonly OutgoingPiece[] | undefined,
  texts: ReadonlyMap<number, string>,
): ReadonlyMap<number, string> {
  if (!pieces || texts.size === 0) return texts;
  const isSent = (index: number) =>
    pieces.some((piece) => {
      if ("from" in piece) return piece.from <= index && index < piece.to;
      const { index: first, elements } = piece;
      return first !== undefined && first <= index && index < first + elements.length;
    });
  return new Map([...texts].filter(([index]) => isSent((list[index]?.to ?? 0) - 1)));
}

/** A message of a request, with its index. */
export interface IndexedMessage extends CallerMessage {
  readonly index: number;
  /** True for a message from the log that the client did not repeat. */
  readonly isLogged?: true;
  /** Elements to send in its place. */
  readonly written?: readonly unknown[];
}

/** One position of an outgoing window. */
type OutgoingSlot =
  /** A message of the client, unchanged. */
  | { readonly type: "same"; readonly index: number }
  /** An edited message; `original` is the logged version. */
  | {
      readonly type: "changed";
      readonly index: number;
      readonly message: Message;
      readonly original: Message;
    }
  /**
   * A message that the client did not send: a summary, an extract, or a logged message that the client no longer has.
   */
  | { readonly type: "note"; readonly message: Message; readonly isNote?: true };

/** The input for planning an outgoing window. */
interface OutgoingSource<G extends IndexedMessage> extends Pick<FittedWindow, "slots" | "messages"> {
  readonly session: SessionId;
  readonly placed: PlacedMessages<G>;
  /** The key of a logged message, comparable to those of the given messages. */
  readonly keyOf: (message: Message) => string;
}

/** True if a window equals the client's messages, so that the request can be sent unchanged. */
export function isUnchangedWindow<G extends IndexedMessage>(
  { slots, parts }: Pick<FittedWindow, "slots" | "parts">,
  { given, last }: Pick<PlacedMessages<G>, "last"> & { readonly given: readonly G[] },
  session: SessionId,
): boolean {
  const end = slots.at(-1);
  // A lasting summary does not count as a note.
  if (!end || slots.length !== given.length || parts.summaries > 0) return false;
  if (getSlotEntry(end, session) !== last) return false;
  for (const { isNote, original, logged } of slots) if (isNote || original || logged) return false;
  for (const { isLogged, written } of given) if (isLogged || written) return false;
  return true;
}

/** The messages of a fitted window in order; unchanged messages are the client's own. */
export function planOutgoing<G extends IndexedMessage>(source: OutgoingSource<G>): readonly OutgoingSlot[] {
  const { slots, messages, keyOf } = source;
  return slots.map((slot, place): OutgoingSlot => {
    const message = messages[place] ?? slot.message;
    const own = slot.isNote ? undefined : findClientMessage(slot, source);
    if (!own || own.callerMessage.isLogged)
      return { type: "note", message, ...(slot.isNote && { isNote: slot.isNote }) };
    const { callerMessage: given, partCount: parts } = own;
    const { index } = given;
    const original = slot.logged ?? slot.original;
    if (original && !isEqual(original, slot.message)) return { type: "changed", index, message, original };
    // A lasting summary stands at the position of the first message that it replaces.
    const isSame = parts === slot.message.parts.length && given.key === keyOf(slot.message);
    return isSame ? { type: "same", index } : { type: "note", message };
  });
}

/** The client's message that a slot shows. */
function findClientMessage<G extends IndexedMessage>(
  slot: Slot,
  { placed, session }: Pick<OutgoingSource<G>, "placed" | "session">,
): PlacedMessage<G> | undefined {
  const own = slot.cite === undefined ? placed.bySeq?.get(slot.seq) : undefined;
  return own ?? placed.byId.get(getSlotEntry(slot, session));
}

/** The entry that a slot of a session shows. */
export function getSlotEntry({ seq, cite }: Pick<Slot, "seq" | "cite">, session: SessionId): EntryId {
  if (cite === undefined) return formatEntryId(session, seq);
  return cite.startsWith("#") ? `${session}${cite}` : cite;
}

/** Compares whole messages, because keys may omit the edited part, such as the input of a call. */
function isEqual(original: Message, shown: Message): boolean {
  if (original === shown) return true;
  const known = comparisons.get(shown);
  if (known?.original === original) return known.isSame;
  const isSame = isDeepStrictEqual(original, shown);
  comparisons.set(shown, { original, isSame });
  return isSame;
}

/** Results of comparisons: an edited message is sent with every request from then on. */
const comparisons = new WeakMap<Message, { readonly original: Message; readonly isSame: boolean }>();
