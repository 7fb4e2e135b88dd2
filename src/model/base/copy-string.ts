/** V8 stores a shorter substring as a copy. */
const MIN_SLICED_LENGTH = 13;

/** A copy of a substring for keeping: a substring itself keeps the whole text alive that it was cut from. */
export function copyString(text: string): string {
  // The concatenation is a new string, and the result refers to that one only.
  return text.length < MIN_SLICED_LENGTH ? text : ` ${text}`.slice(1);
}
