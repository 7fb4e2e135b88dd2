/** Lengths of a line that is distinctive enough to be recognized: longer than a bracket, shorter than a blob. */
export const MIN_VERBATIM = 16;
export const MAX_VERBATIM = 400;

/** Strips line number, diff mark and indentation, so that a line compares equal wherever it is quoted. */
export function stripLine(line: string): string {
  return line
    .replace(/^\s*\d+[→\t:|]/, "")
    .replace(/^[+-](?![+-])/, "")
    .trim();
}

/** True if a bare line is distinctive enough to be recognized. */
export function isVerbatim(bare: string): boolean {
  return bare.length >= MIN_VERBATIM && bare.length <= MAX_VERBATIM && /\w{3}/.test(bare);
}
