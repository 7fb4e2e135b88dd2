import type { ChunkPlace, ChunkTexts } from "./index/chunk-texts.ts";

/** The text that contains a chunk, or as much of it around the chunk as fits, cut at line breaks if possible. */
export async function readAround(
  texts: ChunkTexts,
  chunk: ChunkPlace,
  maxCharacters: number,
): Promise<string | undefined> {
  const whole = await texts.readWhole(chunk);
  if (whole === undefined || whole.length <= maxCharacters) return whole;
  const spare = Math.max(0, maxCharacters - (chunk.to - chunk.from));
  let from = Math.max(0, chunk.from - Math.floor(spare / 3));
  let to = Math.min(whole.length, from + maxCharacters);
  from = Math.max(0, Math.min(from, to - maxCharacters));
  const firstBreak = whole.indexOf("\n", from);
  if (from > 0 && firstBreak >= 0 && firstBreak < chunk.from) from = firstBreak + 1;
  const lastBreak = whole.lastIndexOf("\n", to);
  if (to < whole.length && lastBreak > chunk.to) to = lastBreak;
  return whole.slice(from, to).toWellFormed();
}
