import type { CutBody, OutgoingPiece } from "../request/cut-body.ts";
import { buildSummaryElement, type CompactionBlocks } from "../request/find-compactions.ts";

/**
 * Rewrites a request for a provider without compaction blocks: the last summary as a user message, and everything after
 * it.
 */
export function buildPlainPieces(
  { elements }: CutBody,
  { last, stripped: bare }: CompactionBlocks,
): readonly OutgoingPiece[] {
  const pieces: OutgoingPiece[] = last ? [{ elements: [buildSummaryElement(last.text)] }] : [];
  for (let index = last?.element ?? 0; index < elements.length; index++) {
    const before = pieces.at(-1);
    if (bare.has(index)) {
      const element = index === last?.element ? last.rest : bare.get(index);
      if (element) pieces.push({ elements: [element], index });
    } else if (before && "from" in before && before.to === index)
      pieces[pieces.length - 1] = { from: before.from, to: index + 1 };
    else pieces.push({ from: index, to: index + 1 });
  }
  return pieces;
}
