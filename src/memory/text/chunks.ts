/** A range of a text, in UTF-16 units: `to` is the first place behind it. */
export interface Chunk {
  readonly from: number;
  readonly to: number;
}

/** Sizes of chunks, in characters. */
export interface ChunkSize {
  readonly target: number;
  readonly most: number;
}

/** About sixty English words: small enough that one subject fills it. */
export const PROSE_CHUNK: ChunkSize = { target: 400, most: 600 };

/** About forty lines of code: a function with what surrounds it. */
export const CODE_CHUNK: ChunkSize = { target: 1_500, most: 2_200 };

/** Places where a text may be cut, best first: a blank line, a line's end, a sentence's end, a space. */
const BREAKS = [/\n[ \t]*\n+/g, /\n/g, /[.!?]["')\]]*\s|[。！？；]/g, /\s/g] as const;

/** Cuts a text into chunks that cover it without gap or overlap, at the best break near the target size. */
export function chunks(text: string, size: ChunkSize = PROSE_CHUNK): Chunk[] {
  const found: Chunk[] = [];
  let from = 0;
  while (text.length - from > size.most) {
    const to = cutBefore(text, from, size);
    found.push({ from, to });
    from = to;
  }
  if (from < text.length) found.push({ from, to: text.length });
  return found;
}

function cutBefore(text: string, from: number, { target, most }: ChunkSize): number {
  const window = text.slice(from, from + most);
  const least = Math.floor(target / 2);
  for (const pattern of BREAKS) {
    let best = 0;
    for (const match of window.matchAll(pattern)) {
      const end = match.index + match[0].length;
      if (end >= least && Math.abs(end - target) < Math.abs(best - target)) best = end;
    }
    if (best >= least) return from + best;
  }
  return from + wholeCharacter(window, target);
}

/** Never between the halves of a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
