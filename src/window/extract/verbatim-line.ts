const MIN_LENGTH = 16;
const MAX_LENGTH = 400;

/** A line without its number, its diff mark and its indentation: what it says wherever it is quoted. */
export function bareLine(line: string): string {
  return line
    .replace(/^\s*\d+[→\t:|]/, "")
    .replace(/^[+-](?![+-])/, "")
    .trim();
}

/** Tells whether a bare line says enough to be recognised again: longer than a bracket, shorter than a blob. */
export function isVerbatim(bare: string): boolean {
  return bare.length >= MIN_LENGTH && bare.length <= MAX_LENGTH && /\w{3}/.test(bare);
}
