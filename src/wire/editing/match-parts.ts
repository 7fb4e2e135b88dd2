import type { Part, PartInput } from "../../model/part.ts";
import { getCallId, getPartKind, type PartKind } from "./part-kind.ts";
import { isSameCall, isSamePart } from "./same-part.ts";

/** Logged parts, and the client's parts with the same content; usually one of each. */
export interface PartMatch {
  readonly originals: readonly number[];
  readonly own: readonly number[];
}

const KINDS: readonly PartKind[] = ["text", "blank", "reasoning", "call", "result", "media", "raw"];

/**
 * Matches the logged parts with the client's. If both have the same number of a kind, they are paired in order.
 * Otherwise, as when the client drops reasoning, equal parts are paired; the remaining texts were joined or split
 * differently and form one match.
 */
export function matchParts(original: readonly Part[], own: readonly PartInput[]): readonly PartMatch[] {
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
