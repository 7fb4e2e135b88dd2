const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** A number of 32 bits for a text, so that what was said can be told apart without keeping its words. */
export function hashText(text: string, seed: number): number {
  let hash = OFFSET ^ seed;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), PRIME);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
