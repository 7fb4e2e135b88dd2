const MIN_LENGTH = 16;
const MAX_LENGTH = 400;

/** Strips line number, diff mark and indentation, so that a line compares equal wherever it is quoted. */
export function stripLine(line: string): string {
  return line
    .replace(/^\s*\d+[→\t:|]/, "")
    .replace(/^[+-](?![+-])/, "")
    .trim();
}

/** True if a bare line is distinctive enough to be recognized: longer than a bracket, shorter than a blob. */
export function isVerbatim(bare: string): boolean {
  return bare.length >= MIN_LENGTH && bare.length <= MAX_LENGTH && /\w{3}/.test(bare);
}
