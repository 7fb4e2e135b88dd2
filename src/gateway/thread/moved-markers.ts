import type { JsonObject } from "../api/api.ts";
import type { CutBody, Range } from "../body/cut.ts";
import { elementAt } from "../body/wire-message.ts";
import { leadMarkers } from "../edits/lead-markers.ts";
import { MOST_MARKERS, type Survivor, withMovedMarkers } from "../edits/markers.ts";
import type { Piece } from "./outgoing.ts";

const MARK = Buffer.from('"cache_control"');
const BACKSLASH = 0x5c;

/**
 * Moves the cache markers of edited or removed elements to elements before them. Elements are parsed only if a marker
 * was lost; clients mark their latest messages, which usually stay.
 */
export function movedMarkers(cut: CutBody, pieces: readonly Piece[]): readonly Piece[] {
  const { elements } = cut;
  const [only] = pieces;
  if (only && "from" in only && only.from === 0 && only.to === elements.length) return pieces;
  const marked = markedElements(cut);
  if (
    marked.every((index) =>
      pieces.some((piece) => "from" in piece && piece.from <= index && index < piece.to),
    )
  )
    return pieces;
  const most = Math.max(0, MOST_MARKERS - leadMarkers(cut));
  const before = elements.map((_, index) => elementAt(cut, index));
  return piecesOf(withMovedMarkers(before, survivorsOf(before, pieces), most));
}

/** Indexes of the elements with a marker. */
function markedElements({ bytes, elements }: CutBody): readonly number[] {
  const first = elements[0];
  const last = elements.at(-1);
  if (!first || !last) return [];
  let index = 0;
  const marked = new Set<number>();
  for (const at of marksIn(bytes, { from: first.from, to: last.to })) {
    while (index < elements.length - 1 && (elements[index] as Range).to <= at) index++;
    marked.add(index);
  }
  return [...marked];
}

/** Positions of markers; in text that merely mentions a marker, the quotes are escaped. */
function marksIn(bytes: Buffer, range: Range): readonly number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(MARK, range.from); at >= 0 && at < range.to; at = bytes.indexOf(MARK, at + 1))
    if (bytes[at - 1] !== BACKSLASH) found.push(at);
  return found;
}

/** The outgoing elements, one by one. */
function survivorsOf(before: readonly JsonObject[], pieces: readonly Piece[]): readonly Survivor[] {
  return pieces.flatMap((piece): readonly Survivor[] => {
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

function piecesOf(survivors: readonly Survivor[]): readonly Piece[] {
  const pieces: Piece[] = [];
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
