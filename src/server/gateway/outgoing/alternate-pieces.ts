import { canMergeRoles, mergeRoles } from "../../../kernel/calls/merge-roles.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import type { WireName, WireObject } from "../../../wire/wire.ts";
import type { CutBody, OutgoingPiece } from "../request/cut-body.ts";
import { parseElement, type RequestMessages } from "../request/request-messages.ts";
import { joinNote } from "./join-note.ts";

/** The first or last element of a piece. */
interface Edge {
  readonly element: () => WireObject;
  /** Its index in the client's body, if it has one. */
  readonly index: number | undefined;
  /** True for an assistant element; undefined if only parsing would tell. */
  readonly isAssistant: boolean | undefined;
  readonly isNote?: true | undefined;
}

/**
 * Joins notes with the result before them, and merges elements of one role that became neighbors because an element between them was inserted, edited or hidden:
 * strict chat templates refuse two in a row. Repeated roles in the client's own body stay as they are.
 */
export function alternatePieces(
  api: WireName,
  messages: RequestMessages,
  given: readonly OutgoingPiece[],
): readonly OutgoingPiece[] {
  if (given.length < 2) return given;
  const { cut, list } = messages;
  const pieces = api === "anthropic" ? placeSystemPieces(list, given) : given;
  const speakers: (boolean | undefined)[] = new Array(cut.elements.length).fill(undefined);
  for (const { from, to, role } of list)
    for (let index = from; index < to; index++) speakers[index] = role === "assistant";
  const isAssistantAt = (index: number) => speakers[index];
  const merged: OutgoingPiece[] = [];
  // The client's index of the last element in `merged`; for a merged element, the index of its last part.
  let lastIndex: number | undefined;
  for (const piece of pieces) {
    const before = merged.at(-1);
    const last = before && { ...getLastEdge(cut, before, isAssistantAt), index: lastIndex };
    const first = findFirstEdge(cut, piece, isAssistantAt);
    const element = last && first && mergeEdges(api, cut, last, first);
    if (before && element) {
      merged.pop();
      const index = "from" in before ? before.to - 1 : (before.index ?? first?.index);
      merged.push(...dropLast(before), { elements: [element], ...dropUndefined({ index }) });
      lastIndex = first?.index ?? lastIndex;
      const rest = dropFirst(piece);
      merged.push(...rest);
      if (rest.length > 0) lastIndex = getLastIndex(piece);
    } else {
      merged.push(piece);
      lastIndex = getLastIndex(piece);
    }
  }
  return merged;
}

/**
 * Moves a system message whose reply was hidden to the place before the next reply: Anthropic's API accepts one only
 * between a message of the user and a reply. The client's pieces in other places stay there.
 */
function placeSystemPieces(
  list: RequestMessages["list"],
  pieces: readonly OutgoingPiece[],
): readonly OutgoingPiece[] {
  if (!list.some(({ role }) => role === "system")) return pieces;
  const roles = new Map(list.map(({ from, role }) => [from, role]));
  const roleOf = (piece: OutgoingPiece) =>
    "from" in piece ? roles.get(piece.from) : (roles.get(piece.index ?? -1) ?? piece.elements[0]?.role);
  const single = splitPieces(pieces);
  const placed: OutgoingPiece[] = [];
  let moving: OutgoingPiece[] = [];
  for (let at = 0; at < single.length; ) {
    let end = at;
    while (end < single.length && roleOf(single[end] as OutgoingPiece) === "system") end++;
    if (end > at) {
      const [last, next] = [single[end - 1], single[end]];
      moving.push(...single.slice(at, end));
      at = end;
      const isClients = last && next && "from" in last && "from" in next && next.from === last.to;
      if (next && !isClients && roleOf(next) !== "assistant") continue;
      // Pieces that were moved before keep their order.
      placed.push(...moving);
      moving = [];
      continue;
    }
    const piece = single[at++] as OutgoingPiece;
    const before = placed.at(-1);
    if (moving.length > 0 && roleOf(piece) === "assistant" && before && roleOf(before) === "user") {
      placed.push(...moving);
      moving = [];
    }
    placed.push(piece);
  }
  return joinSlices([...placed, ...moving]);
}

/** Pieces with one element of the client each. */
export function splitPieces(pieces: readonly OutgoingPiece[]): readonly OutgoingPiece[] {
  return pieces.flatMap((piece): readonly OutgoingPiece[] => {
    if ("from" in piece)
      return Array.from({ length: piece.to - piece.from }, (_, at) => ({
        from: piece.from + at,
        to: piece.from + at + 1,
      }));
    const { elements, index } = piece;
    return index === undefined
      ? [piece]
      : elements.map((element, at) => ({ elements: [element], index: index + at }));
  });
}

/** Joins neighboring slices, so that the unchanged part of a body is sent in few pieces. */
export function joinSlices(pieces: readonly OutgoingPiece[]): readonly OutgoingPiece[] {
  const joined: OutgoingPiece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last && "from" in last && "from" in piece && last.to === piece.from)
      joined[joined.length - 1] = { from: last.from, to: piece.to };
    else joined.push(piece);
  }
  return joined;
}

function mergeEdges(api: WireName, cut: CutBody, last: Edge, first: Edge): WireObject | undefined {
  const isKnown = last.isAssistant !== undefined && first.isAssistant !== undefined;
  if (isKnown && last.isAssistant !== first.isAssistant) return undefined;
  if (isRepeatOfClient(api, cut, last.index, first.index)) return undefined;
  const joined =
    first.isNote && !last.isAssistant ? joinNote(api, last.element(), first.element()) : undefined;
  return joined ?? mergeRoles(api, last.element(), first.element());
}

/** True if the client's own body has two consecutive elements of one role there. */
function isRepeatOfClient(
  api: WireName,
  cut: CutBody,
  last: number | undefined,
  first: number | undefined,
): boolean {
  if (last === undefined || first !== last + 1) return false;
  return canMergeRoles(api, parseElement(cut, last), parseElement(cut, first));
}

type SpeakerAt = (index: number) => boolean | undefined;

function getLastEdge(cut: CutBody, piece: OutgoingPiece, isAssistantAt: SpeakerAt): Edge {
  const index = getLastIndex(piece);
  if ("from" in piece) return buildBodyEdge(cut, piece.to - 1, isAssistantAt);
  return buildWrittenEdge(piece.elements.at(-1), index);
}

function findFirstEdge(cut: CutBody, piece: OutgoingPiece, isAssistantAt: SpeakerAt): Edge | undefined {
  if ("from" in piece)
    return piece.to > piece.from ? buildBodyEdge(cut, piece.from, isAssistantAt) : undefined;
  return piece.elements.length > 0
    ? { ...buildWrittenEdge(piece.elements[0], piece.index), isNote: piece.isNote }
    : undefined;
}

function buildBodyEdge(cut: CutBody, index: number, isAssistantAt: SpeakerAt): Edge {
  return { element: () => parseElement(cut, index), index, isAssistant: isAssistantAt(index) };
}

function buildWrittenEdge(element: WireObject = {}, index: number | undefined): Edge {
  const { role } = element;
  const isAssistant = role === "assistant" || (role === "user" ? false : undefined);
  return { element: () => element, index, isAssistant };
}

function getLastIndex(piece: OutgoingPiece): number | undefined {
  if ("from" in piece) return piece.to - 1;
  return piece.index === undefined ? undefined : piece.index + Math.max(0, piece.elements.length - 1);
}

function dropLast(piece: OutgoingPiece): readonly OutgoingPiece[] {
  if ("from" in piece) return piece.to - piece.from > 1 ? [{ from: piece.from, to: piece.to - 1 }] : [];
  return piece.elements.length > 1 ? [{ ...piece, elements: piece.elements.slice(0, -1) }] : [];
}

function dropFirst(piece: OutgoingPiece): readonly OutgoingPiece[] {
  if ("from" in piece) return piece.to - piece.from > 1 ? [{ from: piece.from + 1, to: piece.to }] : [];
  if (piece.elements.length < 2) return [];
  const { index } = piece;
  return [{ elements: piece.elements.slice(1), ...(index !== undefined && { index: index + 1 }) }];
}
