import { arrayOf } from "../../formats/content/fields.ts";
import type { ApiName, JsonObject } from "../api/api.ts";
import { elementAt, type WireMessages } from "../body/wire-message.ts";
import type { Piece } from "../thread/outgoing.ts";

/** A user element with a text appended to its content. */
export function withTextBehind(api: ApiName, element: JsonObject, text: string): JsonObject {
  const { content } = element;
  if (typeof content === "string") return { ...element, content: textBehind(content, text) };
  const type = api === "openai-responses" ? "input_text" : "text";
  return { ...element, content: [...arrayOf(content), { type, text }] };
}

export function textBehind(said: string, text: string): string {
  return `${said}\n\n${text}`;
}

/** The texts whose message is sent, by the index of the message; all of them if the request is sent unchanged. */
export function sentTexts(
  { messages }: WireMessages,
  pieces: readonly Piece[] | undefined,
  told: ReadonlyMap<number, string>,
): ReadonlyMap<number, string> {
  if (!pieces || told.size === 0) return told;
  const isSent = (index: number) =>
    pieces.some((piece) => {
      if ("from" in piece) return piece.from <= index && index < piece.to;
      const { index: first, elements } = piece;
      return first !== undefined && first <= index && index < first + elements.length;
    });
  return new Map([...told].filter(([place]) => isSent((messages[place]?.to ?? 0) - 1)));
}

/**
 * The pieces of a request with texts appended to some messages, given by index; all other messages stay slices of the
 * body.
 */
export function toldPieces(
  api: ApiName,
  { cut, messages }: WireMessages,
  pieces: readonly Piece[],
  told: ReadonlyMap<number, string>,
): readonly Piece[] {
  const texts = new Map<number, string>();
  for (const [place, text] of told) {
    const message = messages[place];
    if (message && message.to > message.from) texts.set(message.to - 1, text);
  }
  return pieces.flatMap((piece): readonly Piece[] => {
    if ("elements" in piece) return [toldElements(api, piece, texts)];
    const split: Piece[] = [];
    let from = piece.from;
    for (const index of [...texts.keys()].sort((one, other) => one - other)) {
      if (index < piece.from || index >= piece.to) continue;
      if (index > from) split.push({ from, to: index });
      const element = withTextBehind(api, elementAt(cut, index), texts.get(index) as string);
      split.push({ elements: [element], index });
      from = index + 1;
    }
    if (from < piece.to) split.push({ from, to: piece.to });
    return split;
  });
}

function toldElements(
  api: ApiName,
  piece: Extract<Piece, { readonly elements: unknown }>,
  texts: ReadonlyMap<number, string>,
): Piece {
  const { elements, index } = piece;
  if (index === undefined) return piece;
  const told = elements.map((element, at) => {
    const text = texts.get(index + at);
    return text === undefined ? element : withTextBehind(api, element, text);
  });
  return { elements: told, index };
}
