import { removeElementMarks } from "../../wire/cache-marks.ts";
import type { OutgoingPiece } from "../request/cut-body.ts";
import type { KnownMessage, RequestMessages } from "../request/request-messages.ts";

/**
 * The elements of a body with exactly the edits of an earlier one; undefined if that one had no edits, or if the body
 * does not extend it. Only the body's own cache markers are kept.
 */
export function repeatSentPieces(
  messages: RequestMessages,
  earlier: RequestMessages<KnownMessage>,
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
export function isExtension(
  { cut, lead, list }: RequestMessages,
  earlier: RequestMessages<KnownMessage>,
): boolean {
  const isMore = lead === earlier.lead && earlier.list.every((own, at) => isSame(own, list[at]));
  return isMore && cut.elements.length >= earlier.cut.elements.length;
}

function isSame(one: KnownMessage, other: KnownMessage | undefined): boolean {
  return other?.key === one.key && other.from === one.from && other.to === one.to;
}
