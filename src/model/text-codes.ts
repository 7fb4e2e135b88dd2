/** The codes of a text, with zeros after its end, so that looking a little ahead needs no check. */
export type TextCodes = Uint16Array;

/** Zeros after the end; no scanner looks further ahead than this. */
const AHEAD = 64;

/**
 * The codes of a text. Scanners read them several times as fast as the text itself, whose characters may lie in many pieces.
 */
export function codesOf(text: string): TextCodes {
  const codes = new Uint16Array(text.length + AHEAD);
  Buffer.from(codes.buffer).write(text, "utf16le");
  return codes;
}

/** V8 stores a shorter substring as a copy. */
const MIN_SLICED_LENGTH = 13;

/** A copy of a substring for keeping: a substring itself keeps the whole text alive that it was cut from. */
export function copyString(text: string): string {
  // The concatenation is a new string, and the result refers to that one only.
  return text.length < MIN_SLICED_LENGTH ? text : ` ${text}`.slice(1);
}
