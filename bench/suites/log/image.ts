/** Size of a photo from a phone or of a full-resolution screenshot. */
export const IMAGE_BYTES = 5_000_000;

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Incompressible bytes with a PNG signature; deterministic by number. */
export function makeImage(number: number): Uint8Array {
  const words = new Uint32Array(IMAGE_BYTES / 4);
  // xorshift32, inlined because it runs a billion times.
  let state = (number + 1) * 2_654_435_761;
  for (let index = 0; index < words.length; index++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[index] = state;
  }
  const bytes = new Uint8Array(words.buffer);
  bytes.set(PNG_SIGNATURE);
  return bytes;
}
