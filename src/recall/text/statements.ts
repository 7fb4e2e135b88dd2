import type { Chunk } from "./split-text.ts";

/** The end of a line or a sentence. */
const END = /\n|[.!?…]["'”’)\]]*(?=\s|$)|[。！？；]/gu;

/** The ranges of the sentences and lines of a text, without the white space around them, in order. */
export function splitStatements(text: string): Chunk[] {
  const found: Chunk[] = [];
  let from = 0;
  const add = (to: number): void => {
    const own = text.slice(from, to);
    const start = from + (own.length - own.trimStart().length);
    const end = start + own.trim().length;
    if (end > start) found.push({ from: start, to: end });
    from = to;
  };
  for (const { index, 0: mark } of text.matchAll(END)) add(index + mark.length);
  add(text.length);
  return found;
}
