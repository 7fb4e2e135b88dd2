import type { Part, PartInput } from "../../../index.ts";
import { callIdOf, kindOf, type PartKind } from "./part-kind.ts";
import { isSameCall, isSamePart } from "./same-part.ts";

/** Logged parts, and the client's parts with the same content; usually one of each. */
export interface Match {
  readonly originals: readonly number[];
  readonly own: readonly number[];
}

const KINDS: readonly PartKind[] = ["text", "blank", "reasoning", "call", "result", "media", "raw"];

/**
 * Matches the logged parts with the client's. If both have the same number of a kind, they are paired in order.
 * Otherwise, as when the client drops reasoning, equal parts are paired; the remaining texts were joined or split
 * differently and form one match.
 */
export function matchParts(original: readonly Part[], own: readonly PartInput[]): readonly Match[] {
  return KINDS.flatMap((kind) => {
    const originals = placesOf(original, kind);
    const mine = placesOf(own, kind);
    if (originals.length === mine.length)
      return originals.map((place, order) => ({ originals: [place], own: [mine[order] as number] }));
    const pairs = pairsOf(original, originals, own, mine);
    if (kind !== "text") return pairs;
    const rest: Match = {
      originals: originals.filter((place) => !pairs.some((pair) => pair.originals[0] === place)),
      own: mine.filter((place) => !pairs.some((pair) => pair.own[0] === place)),
    };
    return rest.originals.length > 0 && rest.own.length > 0 ? [...pairs, rest] : pairs;
  });
}

function pairsOf(
  original: readonly Part[],
  originals: readonly number[],
  own: readonly PartInput[],
  mine: readonly number[],
): readonly Match[] {
  const pairs: Match[] = [];
  let next = 0;
  for (const place of originals) {
    const part = original[place] as Part;
    const at = mine.findIndex((index, order) => order >= next && saysSame(part, own[index] as PartInput));
    const found = mine[at];
    if (found === undefined) continue;
    pairs.push({ originals: [place], own: [found] });
    next = at + 1;
  }
  return pairs;
}

function placesOf(parts: readonly PartInput[] | readonly Part[], kind: PartKind): readonly number[] {
  return parts.flatMap((part, index) => (kindOf(part) === kind ? [index] : []));
}

function saysSame(part: Part, own: PartInput): boolean {
  const callId = callIdOf(part);
  if (callId !== undefined && callId === callIdOf(own)) return true;
  return isSamePart(part, own) || isSameCall(part, own);
}
