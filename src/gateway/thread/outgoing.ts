import type { Message } from "../../index.ts";
import type { Api, Base64Of, JsonObject } from "../api/api.ts";
import type { CutBody, Range } from "../body/cut.ts";
import { elementAt, type WireMessage, type WireMessages } from "../body/wire-message.ts";
import type { Outgoing } from "../edits/render.ts";

/** A run of outgoing elements: a slice of the received body, or newly written elements. */
export type Piece =
  | { readonly from: number; readonly to: number }
  /** `index` is that of the client's first element that they replace, if any. */
  | { readonly elements: readonly JsonObject[]; readonly index?: number };

/** Cache of encoded messages, by message; messages of a window stay the same objects from call to call. */
export class WrittenMessages {
  readonly #written = new Map<Message, { readonly to: number; readonly elements: readonly JsonObject[] }>();

  /** Drops messages encoded from elements that have changed. */
  keepFirst(same: number): void {
    for (const [message, { to }] of this.#written) if (to > same) this.#written.delete(message);
  }

  /** Drops messages that are no longer sent. */
  keepOnly(outgoing: readonly Outgoing[]): void {
    const sent = new Set(outgoing.map((one) => (one.type === "same" ? undefined : one.message)));
    for (const message of this.#written.keys()) if (!sent.has(message)) this.#written.delete(message);
  }

  async write(
    api: Api,
    { cut, messages }: WireMessages,
    one: Exclude<Outgoing, { type: "same" }>,
    base64Of: Base64Of,
  ): Promise<readonly JsonObject[]> {
    const known = this.#written.get(one.message);
    if (known) return known.elements;
    const place = one.type === "note" ? undefined : messages[one.index];
    const own = place &&
      one.type === "changed" && {
        elements:
          place.written ??
          Array.from({ length: place.to - place.from }, (_, at) => elementAt(cut, place.from + at)),
        original: one.original,
      };
    const elements = await api.encode(one.message, own || undefined, base64Of);
    this.#written.set(one.message, { to: place?.to ?? 0, elements });
    return elements;
  }
}

/** The elements of a window; unchanged elements are joined into the longest possible slices. */
export async function outgoingPieces(
  api: Api,
  said: WireMessages,
  outgoing: readonly Outgoing[],
  written: WrittenMessages,
  base64Of: Base64Of,
): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  const add = (from: number, to: number) => {
    const last = pieces.at(-1);
    if (last && "from" in last && isNext(said, last.to, from))
      pieces[pieces.length - 1] = { from: last.from, to };
    else if (to > from) pieces.push({ from, to });
  };
  add(0, said.lead);
  for (const one of outgoing) {
    if (one.type === "same") {
      const message = said.messages[one.index];
      if (message?.written) pieces.push(writtenPiece(message.written, message));
      else if (message) add(message.from, message.to);
    } else {
      const elements = await written.write(api, said, one, base64Of);
      const index = one.type === "changed" ? said.messages[one.index]?.from : undefined;
      if (elements.length > 0) pieces.push({ elements, ...(index !== undefined && { index }) });
    }
  }
  written.keepOnly(outgoing);
  return pieces;
}

/** A piece for rewritten elements; it has no index if it replaces no element of the body. */
function writtenPiece(
  elements: readonly JsonObject[],
  { from, to }: Pick<WireMessage, "from" | "to">,
): Piece {
  return { elements, ...(to > from && { index: from }) };
}

/** True if no message or dropped element lies between two elements. */
function isNext({ messages, lead, left }: WireMessages, end: number, from: number): boolean {
  if (end === from) return true;
  if (left) for (let index = end; index < from; index++) if (left.has(index)) return false;
  return from > end && !messages.some((message) => message.from >= end && message.to <= from) && end >= lead;
}

/** The elements of pieces, parsed. */
export function elementsOf(cut: CutBody, pieces: readonly Piece[]): readonly JsonObject[] {
  return pieces.flatMap((piece) =>
    "from" in piece
      ? Array.from({ length: piece.to - piece.from }, (_, index) => elementAt(cut, piece.from + index))
      : piece.elements,
  );
}

/** The bytes of a list of pieces, without copying: requests are large and wait long for their replies. */
export function listBytes({ bytes, elements }: CutBody, pieces: readonly Piece[]): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (const piece of pieces) {
    parts.push(parts.length === 0 ? OPEN : COMMA);
    if ("from" in piece) {
      const first = elements[piece.from] as Range;
      const last = elements[piece.to - 1] as Range;
      parts.push(bytes.subarray(first.from, last.to));
    } else parts.push(bytesOf(piece.elements));
  }
  if (parts.length === 0) parts.push(OPEN);
  parts.push(CLOSE);
  return parts;
}

/** Newly written elements are sent with many later requests, so their bytes are cached. */
const known = new WeakMap<readonly JsonObject[], Buffer>();

function bytesOf(elements: readonly JsonObject[]): Buffer {
  const bytes = known.get(elements) ?? Buffer.from(elements.map((one) => JSON.stringify(one)).join(","));
  known.set(elements, bytes);
  return bytes;
}

const OPEN = Buffer.from("[");
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");
