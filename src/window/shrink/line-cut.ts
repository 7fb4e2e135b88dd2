/** A range of an output's lines, counted from 0 and inclusive, with the lines that take its place. */
export interface LineCut {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/** Replaces ranges of lines; the ranges are in order and do not overlap. */
export function applyCuts(lines: readonly string[], cuts: readonly LineCut[]): readonly string[] {
  const result: string[] = [];
  let next = 0;
  for (const { from, to, lines: own } of cuts) {
    for (; next < from; next++) result.push(lines[next] as string);
    for (const line of own) result.push(line);
    next = to + 1;
  }
  for (; next < lines.length; next++) result.push(lines[next] as string);
  return result;
}

/** Characters that a cut saves, line breaks included. */
export function countSavedCharacters(lines: readonly string[], { from, to, lines: own }: LineCut): number {
  let saved = 0;
  for (let index = from; index <= to; index++) saved += (lines[index] as string).length + 1;
  for (const line of own) saved -= line.length + 1;
  return saved;
}

/** Longest runs of lines for which `isIn` holds, as ranges of at least `minLines`. */
export function findRuns(
  lines: readonly string[],
  isIn: (index: number) => boolean,
  minLines: number,
): readonly { readonly from: number; readonly to: number }[] {
  const runs: { from: number; to: number }[] = [];
  let from = 0;
  for (let index = 0; index <= lines.length; index++) {
    if (index < lines.length && isIn(index)) continue;
    if (index - from >= minLines) runs.push({ from, to: index - 1 });
    from = index + 1;
  }
  return runs;
}

/** A range of lines as people count them: "3-25", or "3" for one line. */
export function formatLines(from: number, to: number): string {
  return from === to ? `${from + 1}` : `${from + 1}-${to + 1}`;
}
