import type { ChunkAuthor, StoredChunk } from "../../log/store/memory-store.ts";
import type { Hit, HitCopy, SessionHit } from "../hit.ts";
import type { ChunkTexts } from "../index/chunk-texts.ts";
import type { RankedChunk } from "../make-hits.ts";
import { findMemoryAgent } from "../memories/stored-memory.ts";
import { EVIDENCE } from "../text/evidence.ts";
import { splitStatements } from "../text/statements.ts";

/** Maximum length of a hit that has grown. */
const MAX_CHARACTERS = 1_500;

interface CollectOptions {
  readonly texts: ChunkTexts;
  /** Maximum number of hits. */
  readonly k: number;
  /** Minimum score, relative to the best chunk. */
  readonly threshold: number;
  /** Reads a chunk as a hit; undefined if it is gone or must not be shown. */
  readonly readHit: (chunk: RankedChunk) => Promise<Hit | undefined>;
}

/** A hit in the list, with the facts that identify copies of it. */
interface CollectedHit {
  readonly chunk: RankedChunk;
  hit: Hit;
  comparable: string;
  readonly copies: HitCopy[];
}

/** A shorter text, such as "Yes, do that", says something else at each place. */
const MIN_TERMS = 4;

/** Number of best hits that later ones are compared with, beyond equality. */
const MAX_COMPARED = 30;

const MAX_COPIES = 20;

/**
 * Reads the best chunks as hits. A text that a better hit contains word for word becomes a copy of that hit: a message
 * that was sent again, a sub-agent's copy of its task, a quotation in a summary, a file that was read twice.
 */
export async function collectHits(
  ranked: readonly RankedChunk[],
  options: CollectOptions,
): Promise<{ readonly hits: readonly Hit[]; readonly chunks: readonly RankedChunk[] }> {
  const { k, threshold, texts, readHit } = options;
  const least = threshold * (ranked[0]?.score ?? 0);
  const collected: CollectedHit[] = [];
  let place = 0;
  for (; place < ranked.length; place++) {
    const one = ranked[place] as RankedChunk;
    if (collected.length === k || one.score < least) break;
    const hit = await readHit(one);
    if (!hit) continue;
    const comparable = toComparableText(hit.text, one.chunk);
    const original = await findOriginal(collected, { chunk: one, hit, comparable }, texts);
    if (original && hit.kind === "session") addCopy(original, hit);
    else collected.push({ chunk: one, hit, comparable, copies: [] });
  }
  await addEqualChunks(collected, ranked.slice(place), readHit);
  return {
    hits: collected.map(({ hit, copies }) => (copies.length > 0 ? { ...hit, copies } : hit)),
    chunks: collected.map(({ chunk }) => chunk),
  };
}

function addCopy({ hit: original, copies }: CollectedHit, { session, entry, author, at }: SessionHit): void {
  const isNew = original.kind === "session" && original.entry !== entry;
  if (isNew && copies.length < MAX_COPIES) copies.push({ session, entry, author, at });
}

/** The better hit that contains a hit, or that covers it after growing by the end of it; undefined if there is none. */
async function findOriginal(
  collected: readonly CollectedHit[],
  { chunk, hit, comparable }: Omit<CollectedHit, "copies">,
  texts: ChunkTexts,
): Promise<CollectedHit | undefined> {
  if (!isOfConversation(hit) || chunk.chunk.terms.length < MIN_TERMS) return undefined;
  const better = collected.filter((one) => isOfConversation(one.hit));
  const same = better.find((one) => one.comparable === comparable);
  if (same) return same;
  const compared = better.slice(0, MAX_COMPARED);
  const containing = compared.find((one) => one.comparable.includes(comparable));
  if (containing) return containing;
  const middle = findMiddleStatement(comparable);
  for (const one of compared) {
    if (!one.comparable.includes(middle)) continue;
    const grown = await growOverCopy(one.hit as SessionHit, one.chunk.chunk, { hit, comparable }, texts);
    if (!grown) continue;
    one.hit = grown;
    one.comparable = toComparableText(grown.text, one.chunk.chunk);
    return one;
  }
  return undefined;
}

/** True for hits of conversations. Memories have their own state, and a reader may see only some of them. */
function isOfConversation(hit: Hit): hit is SessionHit {
  return hit.kind === "session" && findMemoryAgent(hit.session) === undefined;
}

/** Adds the places of chunks beyond the list that have the same text as a hit. */
async function addEqualChunks(
  collected: readonly CollectedHit[],
  others: readonly RankedChunk[],
  readHit: CollectOptions["readHit"],
): Promise<void> {
  const originals = collected.filter(({ hit }) => isOfConversation(hit));
  const byHash = new Map(originals.map((one) => [toKey(one.chunk.chunk.hash), one]));
  for (const other of others) {
    const one = byHash.get(toKey(other.chunk.hash));
    if (!one || other.chunk.terms.length < MIN_TERMS) continue;
    const hit = await readHit(other);
    if (hit && isOfConversation(hit)) addCopy(one, hit);
  }
}

function toKey(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString("latin1");
}

/**
 * A hit, extended in its own text over all of a copy that begins or ends in it; undefined if its text does not contain
 * the copy there. The same text is cut into other chunks where something stands before it, as in the call that starts a
 * sub-agent.
 */
async function growOverCopy(
  hit: SessionHit,
  chunk: StoredChunk,
  copy: { readonly hit: SessionHit; readonly comparable: string },
  texts: ChunkTexts,
): Promise<SessionHit | undefined> {
  const wanted = copy.hit.text.trim();
  const whole = (await texts.readWhole(chunk)) ?? "";
  const start = Math.max(0, hit.from - wanted.length);
  const found = whole.slice(start, hit.to + wanted.length).indexOf(wanted);
  if (found < 0) return undefined;
  const at = start + found;
  const end = at + wanted.length;
  const common = Math.min(hit.to, end) - Math.max(hit.from, at);
  const [from, to] = [Math.min(hit.from, at), Math.max(hit.to, end)];
  if (common <= wanted.length / 2 || to - from > MAX_CHARACTERS) return undefined;
  const text = whole.slice(from, to);
  return toComparableText(text, chunk).includes(copy.comparable) ? { ...hit, from, to, text } : undefined;
}

/** Separates and encloses statements, so that only whole ones are found in a text. */
const EDGE = "\u0000";

/** The properties of a text that decide which of its marks are layout. */
interface TextOrigin {
  readonly author: ChunkAuthor;
  readonly traits: number;
}

/**
 * A text in a form that is equal for copies of it: whole sentences and lines in order, without the layout around them.
 * Case, numbers and signs stay, because they may be the fact.
 */
function toComparableText(text: string, origin: TextOrigin): string {
  const plain = origin.author === "tool" ? removeLineNumbers(text) : text;
  const statements = splitStatements(plain).map(({ from, to }) => {
    const own = plain.slice(from, to).replace(/\s+/g, " ");
    return own.replace(choosePrefix(origin), "");
  });
  return EDGE + statements.filter((own) => own !== "").join(EDGE) + EDGE;
}

const NONE = /^(?!)/;
/** The name of an argument, as the text of a tool call has it. */
const FIELD = /^[A-Za-z_]\w{0,30}: /;
/** A list mark, a heading or a quotation; a dash before a number may be its sign. */
const LIST_MARK = /^(?:[-*•>]|#{1,6}) (?=[\p{L}"'`])/u;

/** The signs at the beginning of a line of output may be those of a diff, and the fields of an edit tell old from new. */
function choosePrefix({ author, traits }: TextOrigin): RegExp {
  if (author === "tool" || (traits & EVIDENCE.edit) !== 0) return NONE;
  return (traits & EVIDENCE.call) !== 0 ? FIELD : LIST_MARK;
}

/** Other separators may be those of a table. */
const NUMBERED = /^\s*(\d+)(?:→|(?<=\s\d+)\t)(.*)$/;
const MIN_NUMBERED = 2;

/** Removes the line numbers of a file that was shown: consecutive ones on all lines, except perhaps a cut first one. */
function removeLineNumbers(text: string): string {
  const [first = "", ...lines] = text.split("\n");
  const numbered = lines.filter((line) => line.trim() !== "").map((line) => NUMBERED.exec(line));
  const numbers = numbered.map((match) => Number(match?.[1]));
  const isConsecutive = numbers.every(
    (number, index) => index === 0 || number === (numbers[index - 1] as number) + 1,
  );
  if (numbers.length < MIN_NUMBERED || numbers.some(Number.isNaN) || !isConsecutive) return text;
  return [NUMBERED.exec(first)?.[2] ?? first, ...numbered.map((match) => match?.[2] ?? "")].join("\n");
}

/** The statement in the middle of a comparable text, which any other text with more than half of it contains. */
function findMiddleStatement(comparable: string): string {
  const middle = Math.floor(comparable.length / 2);
  const from = comparable.lastIndexOf(EDGE, middle - 1);
  return comparable.slice(from, comparable.indexOf(EDGE, Math.max(middle, from + 1)) + 1);
}
