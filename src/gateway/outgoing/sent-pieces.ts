import { removeElementMarks } from "../../wire/cache-marks.ts";
import type { OutgoingPiece } from "../request/outgoing-piece.ts";
import type { KnownMessage, RequestMessages } from "../request/request-messages.ts";

/**
 * The elements of a body with exactly the edits of an earlier one; undefined if that one had no edits, or if the body
 * does not extend it. Only the body's own cache markers are kept.
 */
export function repeatSentPieces(
  { cut, lead, list }: RequestMessages,
  earlier: RequestMessages<KnownMessage>,
): readonly OutgoingPiece[] | undefined {
  const known = earlier.cut.memo.sentPieces;
  const from = earlier.cut.elements.length;
  const isMore = lead === earlier.lead && earlier.list.every((own, at) => isSame(own, list[at]));
  if (!known || !isMore || cut.elements.length < from) return undefined;
  const pieces = known.map((piece) =>
    "from" in piece ? piece : { ...piece, elements: piece.elements.map(removeElementMarks) },
  );
  return from < cut.elements.length ? [...pieces, { from, to: cut.elements.length }] : pieces;
}

function isSame(one: KnownMessage, other: KnownMessage | undefined): boolean {
  return other?.key === one.key && other.from === one.from && other.to === one.to;
}
