import type { Message } from "../../index.ts";
import type { LoadBase64, Wire, WireObject } from "../../wire/wire.ts";
import type { ByteRange, CutBody, OutgoingPiece } from "../request/cut-body.ts";
import { parseElement, type RequestMessage, type RequestMessages } from "../request/request-messages.ts";
import type { OutgoingSlot } from "./plan-outgoing.ts";

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
      if (elements.length > 0) pieces.push({ elements, ...(index !== undefined && { index }) });
    }
  }
  written.keepOnly(outgoing);
  return pieces;
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
