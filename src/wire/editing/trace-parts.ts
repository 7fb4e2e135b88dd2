import type { Part } from "../../model/part.ts";
import { getCallId, getPartKind } from "./part-kind.ts";
import { isSamePart } from "./same-part.ts";

/** A part of an edited message and its origin. */
export interface TracedPart {
  readonly part: Part;
  /** Index of the original part that it replaces; undefined if it was added. */
  readonly from: number | undefined;
  readonly isSame: boolean;
}

/**
 * Finds the original of each part of an edited message. Unchanged parts serve as anchors; between them, calls and
 * results are matched by id, and the rest by kind and order.
 */
export function traceParts(edited: readonly Part[], original: readonly Part[]): readonly TracedPart[] {
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
