import type { Part, PartInput } from "../../model/part.ts";
import { getCallId, getPartKind, type PartKind } from "./part-kind.ts";
import { isSameCall, isSamePart } from "./same-part.ts";

/** A piece of a client's message, with its decoded part. */
export interface ClientPiece {
  readonly part: PartInput;
}

/** A piece of an edited message: the client's own, the client's own with other content, or a new one. */
export type EditedPiece<P extends ClientPiece> =
  | { readonly type: "own"; readonly piece: P }
  | { readonly type: "changed"; readonly piece: P; readonly part: Part; readonly original: Part }
  | { readonly type: "new"; readonly part: Part };

/** Logged parts, and the client's parts with the same content; usually one of each. */
interface PartMatch {
  readonly originals: readonly number[];
  readonly own: readonly number[];
}

const KINDS: readonly PartKind[] = ["text", "blank", "reasoning", "call", "result", "media", "raw"];

/** A part of an edited message and its origin. */
interface TracedPart {
  readonly part: Part;
  /** Index of the original part that it replaces; undefined if it was added. */
  readonly from: number | undefined;
  readonly isSame: boolean;
}

/**
 * Applies an edit to a client's pieces. Unedited pieces stay, as do pieces unknown to the log as long as anything
 * stays. Reasoning either stays unchanged or leaves, and never returns to a client that has dropped it.
 */
export function applyPieceEdits<P extends ClientPiece>(
  edited: readonly Part[],
  original: readonly Part[],
  pieces: readonly P[],
): readonly EditedPiece<P>[] {
  const matches = matchParts(
    original,
    pieces.map(({ part }) => part),
  );
  const byOriginal = new Map(
    matches.flatMap((match) => match.originals.map((place) => [place, match] as const)),
  );
  const known = new Set(matches.flatMap(({ own }) => own));
  const traced = traceParts(edited, original);
  const members = Map.groupBy(traced, ({ from }) => (from === undefined ? undefined : byOriginal.get(from)));
  const result: EditedPiece<P>[] = [];
  const pieceAt = (place: number | undefined) => pieces[place as number] as P;
  let next = 0;
  const bringUnknown = (end: number) => {
    for (; next < end; next++) if (!known.has(next)) result.push({ type: "own", piece: pieceAt(next) });
  };
  const finished = new Set<PartMatch>();
  for (const trace of traced) {
    const { part, from, isSame } = trace;
    const match = from === undefined ? undefined : byOriginal.get(from);
    if (!match) {
      if (!isSame && getPartKind(part) !== "reasoning" && (from === undefined || canStandAlone(part)))
        result.push({ type: "new", part });
      continue;
    }
    if (finished.has(match)) continue;
    finished.add(match);
    bringUnknown(match.own[0] as number);
    const stayed = members.get(match) ?? [];
    if (stayed.length === match.originals.length && stayed.every((one) => one.isSame))
      for (const one of match.own.map((place) => ({ type: "own" as const, piece: pieceAt(place) })))
        result.push(one);
    else if (getPartKind(part) !== "reasoning")
      result.push({
        type: "changed",
        piece: pieceAt(match.own[0]),
        part: joinTexts(stayed),
        original: original[from as number] as Part,
      });
  }
  if (finished.size > 0) bringUnknown(pieces.length);
  return result;
}

/** Joins texts that the client had joined or split differently; they change together. */
function joinTexts(stayed: readonly TracedPart[]): Part {
  const [first] = stayed as readonly [TracedPart];
  if (stayed.length === 1) return first.part;
  const texts = stayed.map(({ part }) =>
    part.type === "text" ? part.text : part.type === "blob" ? (part.preview ?? "") : "",
  );
  return { type: "text", text: texts.join("\n") };
}

/** True for a part that can stand alone; a call needs its result, and vice versa. */
function canStandAlone(part: Part): boolean {
  const kind = getPartKind(part);
  return kind !== "call" && kind !== "result";
}

/**
 * Matches the logged parts with the client's. If both have the same number of a kind, they are paired in order.
 * Otherwise, as when the client drops reasoning, equal parts are paired; the remaining texts were joined or split
 * differently and form one match.
 */
function matchParts(original: readonly Part[], own: readonly PartInput[]): readonly PartMatch[] {
  return KINDS.flatMap((kind) => {
    const originals = findPlaces(original, kind);
    const mine = findPlaces(own, kind);
    if (originals.length === mine.length)
      return originals.map((place, order) => ({ originals: [place], own: [mine[order] as number] }));
    const pairs = pairEqualParts(original, originals, own, mine);
    if (kind !== "text") return pairs;
    const rest: PartMatch = {
      originals: originals.filter((place) => !pairs.some((pair) => pair.originals[0] === place)),
      own: mine.filter((place) => !pairs.some((pair) => pair.own[0] === place)),
    };
    return rest.originals.length > 0 && rest.own.length > 0 ? [...pairs, rest] : pairs;
  });
}

function pairEqualParts(
  original: readonly Part[],
  originals: readonly number[],
  own: readonly PartInput[],
  mine: readonly number[],
): readonly PartMatch[] {
  const pairs: PartMatch[] = [];
  let next = 0;
  for (const place of originals) {
    const part = original[place] as Part;
    const at = mine.findIndex(
      (index, order) => order >= next && hasSameContent(part, own[index] as PartInput),
    );
    const found = mine[at];
    if (found === undefined) continue;
    pairs.push({ originals: [place], own: [found] });
    next = at + 1;
  }
  return pairs;
}

function findPlaces(parts: readonly PartInput[] | readonly Part[], kind: PartKind): readonly number[] {
  return parts.flatMap((part, index) => (getPartKind(part) === kind ? [index] : []));
}

function hasSameContent(part: Part, own: PartInput): boolean {
  const callId = getCallId(part);
  if (callId !== undefined && callId === getCallId(own)) return true;
  return isSamePart(part, own) || isSameCall(part, own);
}

/**
 * Finds the original of each part of an edited message. Unchanged parts serve as anchors; between them, calls and
 * results are matched by id, and the rest by kind and order.
 */
function traceParts(edited: readonly Part[], original: readonly Part[]): readonly TracedPart[] {
  const anchors = findAnchors(edited, original);
  const from: (number | undefined)[] = [...anchors];
  let gap: number[] = [];
  let begin = 0;
  for (let index = 0; index <= edited.length; index++) {
    const anchor = index === edited.length ? original.length : anchors[index];
    if (anchor === undefined) {
      gap.push(index);
      continue;
    }
    pairGap(edited, gap, original, begin, anchor, from);
    gap = [];
    begin = anchor + 1;
  }
  return edited.map((part, index) => ({ part, from: from[index], isSame: anchors[index] !== undefined }));
}

/** Indexes of the originals of unchanged parts, in ascending order. */
function findAnchors(edited: readonly Part[], original: readonly Part[]): readonly (number | undefined)[] {
  const anchors: (number | undefined)[] = edited.map(() => undefined);
  let tail = 0;
  const isTailSame = () => {
    const [one, other] = [edited.at(-1 - tail), original.at(-1 - tail)];
    return one !== undefined && other !== undefined && isSamePart(one, other);
  };
  while (isTailSame()) {
    tail++;
    anchors[edited.length - tail] = original.length - tail;
  }
  const end = original.length - tail;
  let next = 0;
  for (let index = 0; index < edited.length - tail; index++) {
    for (let at = next; at < end; at++) {
      if (!isSamePart(edited[index] as Part, original[at] as Part)) continue;
      anchors[index] = at;
      next = at + 1;
      break;
    }
  }
  return anchors;
}

/** Pairs changed parts between two anchors. No part replaces reasoning. */
function pairGap(
  edited: readonly Part[],
  gap: readonly number[],
  original: readonly Part[],
  begin: number,
  end: number,
  from: (number | undefined)[],
): void {
  const free = new Set<number>();
  for (let at = begin; at < end; at++) if (getPartKind(original[at] as Part) !== "reasoning") free.add(at);
  const pair = (isPair: (part: Part, other: Part) => boolean) => {
    for (const index of gap) {
      if (from[index] !== undefined) continue;
      const at = [...free].find((place) => isPair(edited[index] as Part, original[place] as Part));
      if (at === undefined) continue;
      from[index] = at;
      free.delete(at);
    }
  };
  pair((part, other) => {
    const callId = getCallId(part);
    return callId !== undefined && callId === getCallId(other) && getPartKind(part) === getPartKind(other);
  });
  const isEven = gap.filter((index) => from[index] === undefined).length === free.size;
  if (!isEven)
    pair((part, other) => getPartKind(part) === getPartKind(other) && getCallId(part) === undefined);
  pair((part) => ["text", "blank", "media", "raw"].includes(getPartKind(part)));
}
