import { toArray } from "../../../wire/fields.ts";
import type { WireName, WireObject } from "../../../wire/wire.ts";
import { joinSlices, splitPieces } from "../outgoing/alternate-pieces.ts";
import type { CutBody, OutgoingPiece } from "../request/cut-body.ts";
import { parseElement, type RequestMessages } from "../request/request-messages.ts";

/** A user element with a text appended to its content. */
export function appendTextToElement(api: WireName, element: WireObject, text: string): WireObject {
  const { content, parts } = element;
  if (api === "google") return { ...element, parts: [...toArray(parts), { text }] };
  if (typeof content === "string") return { ...element, content: appendText(content, text) };
  const type = api === "openai-responses" ? "input_text" : "text";
  return { ...element, content: [...toArray(content), { type, text }] };
}

export function appendText(content: string, text: string): string {
  return `${content}\n\n${text}`;
}

/**
 * The pieces of a request with texts appended to some messages, given by index; all other messages stay slices of the
 * body.
 */
export function addContextToPieces(
  api: WireName,
  { cut, list }: RequestMessages,
  pieces: readonly OutgoingPiece[],
  contextTexts: ReadonlyMap<number, string>,
): readonly OutgoingPiece[] {
  const texts = new Map<number, string>();
  for (const [index, text] of contextTexts) {
    const message = list[index];
    if (message && message.to > message.from) texts.set(message.to - 1, text);
  }
  return appendToPieces(api, cut, pieces, texts);
}

/** The same for elements, given by index. */
export function appendToPieces(
  api: WireName,
  cut: CutBody,
  pieces: readonly OutgoingPiece[],
  texts: ReadonlyMap<number, string>,
): readonly OutgoingPiece[] {
  return joinSlices(
    splitPieces(pieces).map((piece) => {
      const isSlice = "from" in piece;
      const index = isSlice ? piece.from : piece.index;
      const text = index === undefined ? undefined : texts.get(index);
      const [element] = isSlice ? [] : piece.elements;
      if (text === undefined || index === undefined) return piece;
      return { elements: [appendTextToElement(api, element ?? parseElement(cut, index), text)], index };
    }),
  );
}
