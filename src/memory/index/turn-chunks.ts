import { setImmediate } from "node:timers/promises";
import type { ChunkAuthor, NewChunk } from "../../store/memory-store.ts";
import { analyzeText } from "../text/analyze-text.ts";
import { hashChunkText } from "../text/hash-chunk-text.ts";
import { splitText } from "../text/split-text.ts";
import { detectTraits } from "../text/traits.ts";

/** Characters processed before yielding to other work: new words take up to half a microsecond per letter. */
const MAX_HELD_CHARACTERS = 16_384;

/** A turn of a source, to be split into chunks. */
interface IndexedTurn {
  readonly seq: number;
  readonly turn: number;
  readonly at: number;
  readonly speaker?: string;
  readonly texts: readonly { readonly part: number; readonly text: string; readonly author: ChunkAuthor }[];
}

/** The chunks of a turn; pieces without a term are omitted. */
export async function buildTurnChunks({ seq, turn, at, speaker, texts }: IndexedTurn): Promise<NewChunk[]> {
  const found: Omit<NewChunk, "turnLength">[] = [];
  let turnLength = 0;
  let held = 0;
  for (const { part, text, author } of texts) {
    for (const { from, to } of splitText(text)) {
      held += to - from;
      if (held > MAX_HELD_CHARACTERS) {
        await setImmediate();
        held = 0;
      }
      const own = text.slice(from, to);
      const terms = analyzeText(own);
      if (terms.length === 0) continue;
      turnLength += terms.length;
      found.push({
        seq,
        turn,
        part,
        from,
        to,
        at,
        author,
        ...(speaker !== undefined && { speaker }),
        traits: detectTraits(own),
        hash: hashChunkText(own),
        terms,
      });
    }
  }
  return found.map((chunk) => ({ ...chunk, turnLength }));
}
