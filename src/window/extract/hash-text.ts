const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** A 32-bit hash of a text, to tell texts apart without keeping them. */
export function hashText(text: string, seed: number): number {
  let hash = OFFSET ^ seed;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), PRIME);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
