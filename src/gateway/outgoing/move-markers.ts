import type { WireObject } from "../../wire/wire.ts";
import type { ByteRange, CutBody, OutgoingPiece } from "../request/cut-body.ts";
import { parseElement } from "../request/request-messages.ts";
import { findMarkers, MAX_MARKERS, moveMarkers, type SentElement } from "./cache-markers.ts";
import { countLeadMarkers } from "./count-lead-markers.ts";

const CACHE_MARK = Buffer.from('"cache_control"');
const BACKSLASH = 0x5c;

/**
 * Moves the cache markers of edited or removed elements to elements before them. Elements are parsed only if a marker
 * was lost; clients mark their latest messages, which usually stay.
 */
export function moveLostMarkers(cut: CutBody, pieces: readonly OutgoingPiece[]): readonly OutgoingPiece[] {
  const { elements } = cut;
  const [only] = pieces;
  if (only && "from" in only && only.from === 0 && only.to === elements.length) return pieces;
  const marked = findMarkedElements(cut);
  const lost = marked.filter(
    (index) => !pieces.some((piece) => "from" in piece && piece.from <= index && index < piece.to),
  );
  // A shortened result is edited in its place and keeps its markers.
  if (lost.every((index) => hasOwnMarkers(cut, pieces, index))) return pieces;
  const most = Math.max(0, MAX_MARKERS - countLeadMarkers(cut));
  const before = elements.map((_, index) => parseElement(cut, index));
  return toPieces(moveMarkers(before, listSentElements(before, pieces), most));
}

/** True if an edited element has the markers of the client's element at its place. */
function hasOwnMarkers(cut: CutBody, pieces: readonly OutgoingPiece[], index: number): boolean {
  for (const piece of pieces) {
    if ("from" in piece || piece.index === undefined) continue;
    const element = piece.elements[index - piece.index];
    if (!element) continue;
    const own = JSON.stringify(findMarkers([element]));
    return element.role !== "assistant" && own === JSON.stringify(findMarkers([parseElement(cut, index)]));
  }
  return false;
}

/** Indexes of the elements with a marker; elements that an earlier body has as well are not searched again. */
function findMarkedElements({ bytes, elements, like, same, memo }: CutBody): readonly number[] {
  if (memo.markedElements) return memo.markedElements;
  const earlier = like?.memo.markedElements;
  const marked = new Set(earlier?.filter((index) => index < same));
  let index = earlier ? same : 0;
  const first = elements[index];
  const last = elements.at(-1);
  if (first && last)
    for (const at of findMarks(bytes, { from: first.from, to: last.to })) {
      while (index < elements.length - 1 && (elements[index] as ByteRange).to <= at) index++;
      marked.add(index);
    }
  memo.markedElements = [...marked];
  return memo.markedElements;
}

/** Positions of markers; in text that merely mentions a marker, the quotes are escaped. */
function findMarks(bytes: Buffer, range: ByteRange): readonly number[] {
  const found: number[] = [];
  for (
    let at = bytes.indexOf(CACHE_MARK, range.from);
    at >= 0 && at < range.to;
    at = bytes.indexOf(CACHE_MARK, at + 1)
  )
    if (bytes[at - 1] !== BACKSLASH) found.push(at);
  return found;
}

/** The outgoing elements, one by one. */
function listSentElements(
  before: readonly WireObject[],
  pieces: readonly OutgoingPiece[],
): readonly SentElement[] {
  return pieces.flatMap((piece): readonly SentElement[] => {
    if ("from" in piece)
      return before
        .slice(piece.from, piece.to)
        .map((element, at) => ({ element, index: piece.from + at, isEdited: false }));
    const { index } = piece;
    return piece.elements.map((element, at) => ({
      element,
      isEdited: true,
      ...(index !== undefined && { index: index + at }),
    }));
  });
}

function toPieces(survivors: readonly SentElement[]): readonly OutgoingPiece[] {
  const pieces: OutgoingPiece[] = [];
  for (const { element, index, isEdited } of survivors) {
    const last = pieces.at(-1);
    if (isEdited || index === undefined)
      pieces.push({ elements: [element], ...(index !== undefined && { index }) });
    else if (last && "from" in last && last.to === index)
      pieces[pieces.length - 1] = { from: last.from, to: index + 1 };
    else pieces.push({ from: index, to: index + 1 });
  }
  return pieces;
}
