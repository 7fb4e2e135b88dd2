import type { Part, PartInput } from "../../model/part.ts";
import { matchParts, type PartMatch } from "./match-parts.ts";
import { getPartKind } from "./part-kind.ts";
import { type TracedPart, traceParts } from "./trace-parts.ts";

/** A piece of a client's message, with its decoded part. */
export interface ClientPiece {
  readonly part: PartInput;
}

/** A piece of an edited message: the client's own, the client's own with other content, or a new one. */
export type EditedPiece<P extends ClientPiece> =
  | { readonly type: "own"; readonly piece: P }
  | { readonly type: "changed"; readonly piece: P; readonly part: Part; readonly original: Part }
  | { readonly type: "new"; readonly part: Part };

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
