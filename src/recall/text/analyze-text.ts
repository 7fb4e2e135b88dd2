import { foldText } from "../../model/sentences.ts";
import { codesOf, copyString } from "../../model/text-codes.ts";
import { EAST_ASIAN, splitByScript, splitEastAsian } from "./east-asian.ts";
import { splitIdentifier, WORD_CHARACTER } from "./split-words.ts";
import { stemWord } from "./stem-word.ts";

/** Words that say nothing about the subject of a text; contractions are listed without their apostrophe. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above actually after again against ago ain all almost along already also although always am among an and any
anything are aren around as at away b back be because been before being below between both but by c can cannot cant
could couldn couldnt d did didn didnt do does doesn doesnt doing don dont done down during e each either else enough etc
even ever every everything f few for from further g get gets getting got h had hadn has hasn hasnt have haven having he
hello her here hers herself hes hey hi him himself his how however i id if ill im in into is isn isnt it its itself ive j
just k kind l least let lets like ll lot lots m maybe me might mine more most much must my myself n neither never no nor
not now o of off oh ok okay on once one ones only or other others our ours ourselves out over own p per perhaps please
pretty q quite r rather re really right s same shall she should shouldn since so some something still such sure t than
thank thanks that thats the their theirs them themselves then there theres these they thing things this those though
through thus to together too u under until up upon us v ve very via w was wasn wasnt way we well were weren what whats
when where whether which while who whom whose why will with within without won wont would wouldn x y yeah yes yet you
your youre yours yourself yourselves youve z`.split(/\s+/),
);

/** Words whose terms are cached, about 150 bytes each; a full cache is emptied. */
const MAX_CACHED_WORDS = 32_767;

const MAX_CACHED_CODES = MAX_CACHED_WORDS * 10;

const MAX_TRIES = 32;

/** Longer runs of letters and digits are digests, keys or encoded bytes; their beginning is used as one term. */
const MAX_WORD_LENGTH = 64;

const NONE: readonly string[] = [];

/** The cached words from 1 on: their numbers by hash, their hashes, ends, letters and terms. */
const slots = new Uint16Array(4 * (MAX_CACHED_WORDS + 1));

const hashes = new Int32Array(MAX_CACHED_WORDS + 1);

const ends = new Int32Array(MAX_CACHED_WORDS + 1);

const letters = new Uint16Array(MAX_CACHED_CODES);

let known: (readonly string[])[] = [NONE];

const [UNKNOWN, LETTER, OTHER] = [0, 1, 2] as const;

const kinds = new Uint8Array(65_536);

const room = new Uint16Array(4_096);

const roomBytes = Buffer.from(room.buffer);

/** The terms of a text in order, as stored and searched: folded, stemmed, without stop words. */
export function analyzeText(text: string): string[] {
  const codes = readCodes(text);
  const terms: string[] = [];
  for (let at = 0; at < text.length; ) {
    let next = at + countLetterCodes(codes, at);
    const from = at;
    let hash = 0;
    while (next > at) {
      for (; at < next; at++) hash = Math.imul(hash ^ (codes[at] as number), 0x01000193);
      // A character that joins two parts belongs to the word.
      const start = isJoint(codes[at] as number) ? at + 1 : at;
      const count = countLetterCodes(codes, start);
      next = count > 0 ? start + count : at;
    }
    if (at > from) for (const term of findTerms(text, codes, from, at, hash)) terms.push(term);
    else at++;
  }
  return terms;
}

/** The codes of a text, in memory that the next call uses again if the text is as short as a chunk. */
function readCodes(text: string): Uint16Array {
  if (text.length > room.length - 2) return codesOf(text);
  roomBytes.write(text, "utf16le");
  return room.fill(0, text.length, text.length + 2);
}

/** The number of codes of the letter, digit or mark at a place; 0 if something else is there. */
function countLetterCodes(codes: Uint16Array, at: number): number {
  const code = codes[at] as number;
  const kind = kinds[code];
  if (kind !== UNKNOWN) return kind === LETTER ? 1 : 0;
  const isHighSurrogate = code >= 0xd800 && code < 0xdc00;
  const character = String.fromCharCode(code, codes[at + 1] as number).slice(0, isHighSurrogate ? 2 : 1);
  const isLetter = WORD_CHARACTER.test(character);
  if (character.length === 1) kinds[code] = isLetter ? LETTER : OTHER;
  return isLetter ? character.length : 0;
}

/** True for an underscore, which joins the parts of an identifier, and an apostrophe, which joins those of a contraction. */
function isJoint(code: number): boolean {
  return code === 0x5f || code === 0x27 || code === 0x2019;
}

/** The terms of the word at a place, from the cache if it is there, which is searched without creating a string. */
function findTerms(text: string, codes: Uint16Array, from: number, to: number, hash: number) {
  const length = to - from;
  let slot = (hash ^ (hash >>> 15)) & (slots.length - 1);
  // Words that were made to have one hash take the place of one another.
  for (let tries = 0; tries < MAX_TRIES && slots[slot] !== 0; tries++) {
    const word = slots[slot] as number;
    if (hashes[word] === hash && hasLetters(word, codes, from, length))
      return known[word] as readonly string[];
    slot = (slot + 1) & (slots.length - 1);
  }
  const terms = analyzeWord(copyString(text.slice(from, to)));
  // Longer words hardly ever come again.
  if (length > MAX_WORD_LENGTH) return terms;
  const start = ends[known.length - 1] as number;
  if (known.length > MAX_CACHED_WORDS || start + length > MAX_CACHED_CODES) {
    slots.fill(0);
    known = [NONE];
    return terms;
  }
  slots[slot] = known.length;
  hashes[known.length] = hash;
  ends[known.length] = start + length;
  letters.set(codes.subarray(from, to), start);
  known.push(terms);
  return terms;
}

function hasLetters(word: number, codes: Uint16Array, from: number, length: number): boolean {
  const start = ends[word - 1] as number;
  if ((ends[word] as number) - start !== length) return false;
  for (let at = 0; at < length; at++) if (letters[start + at] !== codes[from + at]) return false;
  return true;
}

/** Matches most words: nothing to fold, nothing to split. */
const PLAIN = /^[a-z]{1,64}$/;

/** Matches most other words: nothing to fold, but perhaps something to split. */
const BARE_ASCII = /^[A-Za-z0-9_]{1,64}$/;

/** The terms of one word, without the cache: none for a stop word; an identifier yields itself and its parts. */
export function analyzeWord(word: string): readonly string[] {
  if (PLAIN.test(word)) return STOP_WORDS.has(word) ? NONE : [stemWord(word)];
  if (BARE_ASCII.test(word)) return termsOfAscii(word);
  if (EAST_ASIAN.test(word)) {
    return splitByScript(word).flatMap(({ text, isEastAsian }) =>
      isEastAsian ? splitEastAsian(foldBare(text)) : analyzeWord(text),
    );
  }
  if (word.length > MAX_WORD_LENGTH) {
    const beginning = foldBare(copyString(word.slice(0, MAX_WORD_LENGTH)));
    return beginning === "" ? NONE : [beginning];
  }
  const plain = foldBare(word);
  if (plain === "") return NONE;
  const bare = plain.replace(/'(s|d|ll|m|re|ve|t)?$/, "");
  if (STOP_WORDS.has(bare.replaceAll("'", "")) || STOP_WORDS.has(plain.replaceAll("'", ""))) return NONE;
  const parts = splitIdentifier(word).map(foldBare);
  if (parts.length < 2) return [stemWord(bare.replaceAll("'", ""))];
  const whole = bare.replace(/[_']/g, "");
  const kept = parts.filter((part) => part.length > 1 && !STOP_WORDS.has(part)).map(stemWord);
  return [...new Set([stemWord(whole), ...kept])];
}

/** The terms of words that need no folding and have no apostrophes. */
function termsOfAscii(word: string): readonly string[] {
  const plain = word.toLowerCase();
  if (STOP_WORDS.has(plain)) return NONE;
  const parts = splitIdentifier(word);
  if (parts.length < 2) return [stemWord(plain)];
  const terms = [stemWord(plain.includes("_") ? plain.replaceAll("_", "") : plain)];
  for (const part of parts) {
    if (part.length < 2) continue;
    const own = part.toLowerCase();
    if (STOP_WORDS.has(own)) continue;
    const term = stemWord(own);
    if (!terms.includes(term)) terms.push(term);
  }
  return terms;
}

const IS_ASCII = /^[A-Za-z0-9_']*$/;

/** Folds a word and removes the spaces and symbols that folding may introduce, which terms must not contain. */
function foldBare(word: string): string {
  if (IS_ASCII.test(word)) return word.toLowerCase();
  return foldText(word)
    .replaceAll("’", "'")
    .replace(/[^\p{L}\p{N}\p{M}_']/gu, "");
}
