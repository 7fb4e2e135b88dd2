/** The UTF-16 units of a text in an array, where they are read many times faster than in a string. */
const shared = new Uint16Array(32_768);
const sharedBytes = Buffer.from(shared.buffer);
let isShared = false;

/** Calls a function with the units of a text, which are valid only until it returns; the array may be longer. */
export function withUnits(text: string, read: (units: Uint16Array, length: number) => void): void {
  const { length } = text;
  if (isShared || length > shared.length) {
    read(toUnits(text), length);
    return;
  }
  sharedBytes.write(text, 0, "ucs2");
  isShared = true;
  try {
    read(shared, length);
  } finally {
    isShared = false;
  }
}

/** The units of a text in their own array. */
export function toUnits(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  Buffer.from(units.buffer).write(text, 0, "ucs2");
  return units;
}
