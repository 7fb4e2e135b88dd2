import { setImmediate } from "node:timers/promises";
import type { ChunkAuthor, NewChunk } from "../../log/store/memory-store.ts";
import { analyzeText } from "../text/analyze-text.ts";
import { hasDecision } from "../text/decisions.ts";
import { EVIDENCE } from "../text/evidence.ts";
import { hashChunkText } from "../text/hash-chunk-text.ts";
import { type Chunk, splitText } from "../text/split-text.ts";
import { detectTraits } from "../text/traits.ts";

/** Characters processed before yielding to other work: new words take up to half a microsecond per letter. */
const MAX_HELD_CHARACTERS = 16_384;

/** A turn of a source, to be split into chunks. */
interface IndexedTurn {
  readonly seq: number;
  readonly turn: number;
  readonly at: number;
  readonly speaker?: string;
  readonly texts: readonly IndexedText[];
}

/** A text of a turn, with its evidence bits, and the items of a plan in it that are being worked on. */
export interface IndexedText {
  readonly part: number;
  readonly text: string;
  readonly author: ChunkAuthor;
  readonly evidence?: number;
  readonly active?: readonly string[];
  /** Text elsewhere that this text refers to; its terms lead here too. */
  readonly about?: string;
  /** The range to index, default all; `to` is exclusive. */
  readonly body?: { readonly from: number; readonly to: number };
}

/** The chunks of a turn; pieces without a term are omitted. */
export async function buildTurnChunks({ seq, turn, at, speaker, texts }: IndexedTurn): Promise<NewChunk[]> {
  const found: Omit<NewChunk, "turnLength">[] = [];
  let turnLength = 0;
  let held = 0;
  for (const { part, text, author, evidence = 0, active = [], about, body } of texts) {
    const start = body?.from ?? 0;
    for (const piece of splitAtItems(text.slice(start, body?.to), active)) {
      const [from, to] = [start + piece.from, start + piece.to];
      held += to - from;
      if (held > MAX_HELD_CHARACTERS) {
        await setImmediate();
        held = 0;
      }
      const own = text.slice(from, to);
      const terms = about === undefined ? analyzeText(own) : [...analyzeText(about), ...analyzeText(own)];
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
        traits:
          detectTraits(own) |
          evidence |
          detectMarks(own, author, evidence, piece.isActive || about !== undefined),
        hash: hashChunkText(own),
        terms,
      });
    }
  }
  return found.map((chunk) => ({ ...chunk, turnLength }));
}

/** Marks of a chunk: the work that it begins, and, in prose, a decision. */
function detectMarks(text: string, author: ChunkAuthor, evidence: number, isActive: boolean): number {
  const isProse = evidence === 0 && (author === "user" || author === "assistant");
  return (isActive ? EVIDENCE.active : 0) | (isProse && hasDecision(text) ? EVIDENCE.decision : 0);
}

/** Splits a text into chunks; each active item is its own chunk. */
function splitAtItems(text: string, active: readonly string[]): (Chunk & { readonly isActive: boolean })[] {
  const pieces: (Chunk & { readonly isActive: boolean })[] = [];
  let end = 0;
  const addRest = (to: number): void => {
    for (const piece of splitText(text.slice(end, to)))
      pieces.push({ from: end + piece.from, to: end + piece.to, isActive: false });
  };
  for (const item of active) {
    const from = text.indexOf(item, end);
    if (from < 0) continue;
    addRest(from);
    end = from + item.length;
    pieces.push({ from, to: end, isActive: true });
  }
  addRest(text.length);
  return pieces;
}
