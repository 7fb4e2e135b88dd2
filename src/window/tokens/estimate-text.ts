import { createArgumentError } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import { type Message, requireParts } from "../../model/message.ts";
import type { BlobPart, Part } from "../../model/part.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** Character classes of a tokenizer. */
const CHARACTER_CLASS = {
  space: 0,
  lineBreak: 1,
  lower: 2,
  upper: 3,
  digit: 4,
  mark: 5,
  han: 6,
  kana: 7,
  hangul: 8,
  accented: 9,
  cyrillic: 10,
  other: 11,
  wideMark: 12,
  symbol: 13,
  thai: 14,
  emoji: 15,
} as const;

const ASCII = Uint8Array.from({ length: 128 }, (_, code) => classifyAscii(code));

/** A word of this length is mostly one token; each further letter counts separately. */
const COMMON_LENGTH = 7;
const DIGITS_PER_TOKEN = 3;
/** A change of case after so few letters indicates a key or base64 rather than a name. */
const SCRAMBLED_LENGTH = 2;

const CLASSES = Object.values(CHARACTER_CLASS);
/** The class of a character and its sameness with the one before it take so many bits. */
const CHARACTER_BITS = 5;
const WEIGHT_BITS = 12;
const FEATURE_BITS = 5;

/** The features of a text from which its token count is estimated, in the order of the weights. */
export const TEXT_FEATURES = [
  "words",
  "joinedWords",
  "scrambled",
  "wordsAfterDigits",
  "longWordLetters",
  "capitals",
  "digitGroups",
  "marks",
  "furtherMarks",
  "repeatedMarks",
  "indents",
  "lineBreaks",
  "han",
  "kana",
  "hangul",
  "accented",
  "cyrillic",
  "other",
  "wideMarks",
  "symbols",
  "thai",
  "emoji",
] as const;

/**
 * Tokens per feature, fitted by least relative error to o200k_base on English, Chinese, code in three languages, JSON,
 * Markdown, logs and base64. Han and wide marks are set by hand between Chinese prose and chat, because no single fit
 * serves both. Cyrillic, Thai (with Lao) and emoji (per UTF-16 unit) are set by hand too, rather too high than too low.
 * At most three decimals.
 */
const TOKENS_PER: Readonly<Record<TextFeature, number>> = {
  words: 0.927,
  joinedWords: 0.552,
  scrambled: 2.79,
  wordsAfterDigits: 0.897,
  longWordLetters: 0.351,
  capitals: 0.075,
  digitGroups: 1.226,
  marks: 1.006,
  furtherMarks: 0.129,
  repeatedMarks: 0.037,
  indents: 0.625,
  lineBreaks: 0.545,
  han: 0.71,
  kana: 0.672,
  hangul: 0.722,
  accented: 0.637,
  cyrillic: 0.325,
  other: 0.357,
  wideMarks: 1,
  symbols: 0.975,
  thai: 0.45,
  emoji: 1.1,
};

/** The weights in the order of the features. */
export const TOKEN_WEIGHTS: Float64Array = Float64Array.from(TEXT_FEATURES, (feature) => TOKENS_PER[feature]);

/** The feature of characters that count as none. */
const NO_FEATURE = TEXT_FEATURES.length;

const WEIGHT_MASK: number = (1 << WEIGHT_BITS) - 1;
const FEATURE_MASK: number = (1 << FEATURE_BITS) - 1;
const FEATURE_SHIFT: number = WEIGHT_BITS;
const STATE_SHIFT: number = WEIGHT_BITS + FEATURE_BITS;

/** Twice the class of each UTF-16 unit, as an index of `STEPS` has it. */
const UNIT_CLASSES: Uint8Array = Uint8Array.from(
  { length: 65_536 },
  (_, unit) => classifyCharacter(unit) << 1,
);

/**
 * Thousandths of a token of each character, its feature and the next state, at `state | UNIT_CLASSES[unit] | same`; `same`
 * is 1 after an equal unit. A processor guesses most branches on a text wrong, so there are none.
 */
const STEPS: Uint32Array = buildSteps();

/** Estimated tokens of a text, based on its scripts; on average within a few percent of o200k_base. */
export function estimateText(text: string): number {
  if (typeof text !== "string") throw createArgumentError("text", text, "a text");
  if (text.length === 0) return 0;
  const thousandths = sumThousandths(text);
  const tokens = thousandths % 1_000 === 500 ? sumFeatures(text) : thousandths / 1_000;
  return Math.max(1, Math.round(tokens));
}

/** A text is copied here piece by piece, because its units are read faster from an array. */
const PIECE_UNITS = 8_192;
const units = new Uint16Array(PIECE_UNITS);
const unitBytes = Buffer.from(units.buffer);

function sumThousandths(text: string): number {
  // Read once: within the loop, an imported name or the length of a text costs more than all the rest.
  const steps = STEPS;
  const classes = UNIT_CLASSES;
  const mask = WEIGHT_MASK;
  const shift = STATE_SHIFT;
  const { length } = text;
  let sum = 0;
  let state = 0;
  let before = 0;
  for (let from = 0; from < length; from += PIECE_UNITS) {
    unitBytes.write(length <= PIECE_UNITS ? text : text.slice(from, from + PIECE_UNITS), 0, "ucs2");
    const to = Math.min(PIECE_UNITS, length - from);
    for (let index = 0; index < to; index++) {
      const unit = units[index] as number;
      // 1 for equal units, else 0.
      const same = ((unit ^ before) - 1) >>> 31;
      const step = steps[state | (classes[unit] as number) | same] as number;
      sum += step & mask;
      state = step >>> shift;
      before = unit;
    }
  }
  return sum;
}

/** Sums the products in the order of the features, because rounding of halves depends on the order. */
function sumFeatures(text: string): number {
  const counts = countFeatures(text);
  let tokens = 0;
  for (let index = 0; index < TOKEN_WEIGHTS.length; index++)
    tokens += (counts[index] as number) * (TOKEN_WEIGHTS[index] as number);
  return tokens;
}

/** Counts the features of a text, in the order of the weights. */
export function countFeatures(text: string): Uint32Array {
  const counts = new Uint32Array(FEATURE_MASK + 1);
  let state = 0;
  let before = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const same = unit === before ? 1 : 0;
    const step = STEPS[state | (UNIT_CLASSES[unit] as number) | same] as number;
    const feature = (step >>> FEATURE_SHIFT) & FEATURE_MASK;
    counts[feature] = (counts[feature] as number) + 1;
    state = step >>> STATE_SHIFT;
    before = unit;
  }
  return counts;
}

/** The state of counting: the class of the last character and the length of the run that it ends. */
interface RunState {
  readonly script: number;
  readonly run: number;
}

function buildSteps(): Uint32Array {
  const states: RunState[] = [{ script: CHARACTER_CLASS.space, run: 0 }];
  const table: number[] = [];
  for (let at = 0; at < states.length; at++) {
    for (const script of CLASSES)
      for (const same of [0, 1]) {
        const { feature, run } = takeStep(states[at] as RunState, script, same === 1);
        const next = findOrAdd(states, { script, run: shortenRun(script, run) }) << CHARACTER_BITS;
        const counted = feature === undefined ? NO_FEATURE : TEXT_FEATURES.indexOf(feature);
        const weight = feature === undefined ? 0 : Math.round(1_000 * TOKENS_PER[feature]);
        table[(at << CHARACTER_BITS) | (script << 1) | same] =
          (next << STATE_SHIFT) | (counted << FEATURE_SHIFT) | weight;
      }
  }
  return Uint32Array.from({ length: states.length << CHARACTER_BITS }, (_, index) => table[index] ?? 0);
}

function findOrAdd(states: RunState[], sought: RunState): number {
  const found = states.findIndex(({ script, run }) => script === sought.script && run === sought.run);
  return found >= 0 ? found : states.push(sought) - 1;
}

/** Runs that count alike have the same length. */
function shortenRun(script: number, run: number): number {
  switch (script) {
    case CHARACTER_CLASS.lower:
      return Math.min(run, COMMON_LENGTH + 1);
    case CHARACTER_CLASS.space:
      return Math.min(run, 3);
    case CHARACTER_CLASS.digit:
      return run % DIGITS_PER_TOKEN;
    default:
      return 1;
  }
}

/** The feature that a character counts as, if any, and the length of its run. */
function takeStep(
  { script: before, run: runBefore }: RunState,
  script: number,
  isSame: boolean,
): { readonly feature?: TextFeature | undefined; readonly run: number } {
  const isFirst = script !== before;
  const run = isFirst ? 1 : runBefore + 1;
  switch (script) {
    case CHARACTER_CLASS.lower:
      // The capital letter that begins a word has already been counted as a word.
      if (isFirst && before === CHARACTER_CLASS.upper) return { run: 2 };
      if (isFirst) return { feature: chooseWordFeature(before), run };
      return run > COMMON_LENGTH ? { feature: "longWordLetters", run } : { run };
    case CHARACTER_CLASS.upper:
      if (!isFirst) return { feature: "capitals", run };
      if (before !== CHARACTER_CLASS.lower) return { feature: chooseWordFeature(before), run };
      return { feature: runBefore <= SCRAMBLED_LENGTH ? "scrambled" : "joinedWords", run };
    case CHARACTER_CLASS.space:
      return run === 2 ? { feature: "indents", run } : { run };
    case CHARACTER_CLASS.lineBreak:
      return isFirst ? { feature: "lineBreaks", run } : { run };
    case CHARACTER_CLASS.digit:
      return run % DIGITS_PER_TOKEN === 1 ? { feature: "digitGroups", run } : { run };
    case CHARACTER_CLASS.mark:
      if (isFirst) return { feature: "marks", run };
      return { feature: isSame ? "repeatedMarks" : "furtherMarks", run };
    default:
      return {
        feature: TEXT_FEATURES[TEXT_FEATURES.indexOf("han") + script - CHARACTER_CLASS.han],
        run,
      };
  }
}

function chooseWordFeature(before: number): TextFeature {
  if (before === CHARACTER_CLASS.space) return "words";
  return before === CHARACTER_CLASS.digit ? "wordsAfterDigits" : "joinedWords";
}

/** The class of a UTF-16 unit. Surrogates count as emoji, because most of them are. */
function classifyCharacter(unit: number): number {
  if (unit < 128) return ASCII[unit] as number;
  if (unit < 0x250) return unit < 0xc0 ? CHARACTER_CLASS.symbol : CHARACTER_CLASS.accented;
  if (unit >= 0x4e00 && unit < 0xa000) return CHARACTER_CLASS.han;
  if (unit < 0x2000) return classifyAlphabet(unit);
  if (unit < 0x2e80) return CHARACTER_CLASS.symbol;
  return classifyEastAsian(unit);
}

function classifyAscii(code: number): number {
  if (code === 10 || code === 13) return CHARACTER_CLASS.lineBreak;
  if (code <= 32) return CHARACTER_CLASS.space;
  if (code >= 48 && code <= 57) return CHARACTER_CLASS.digit;
  if (code >= 65 && code <= 90) return CHARACTER_CLASS.upper;
  if (code >= 97 && code <= 122) return CHARACTER_CLASS.lower;
  return CHARACTER_CLASS.mark;
}

function classifyAlphabet(unit: number): number {
  if (unit >= 0xe00 && unit < 0xf00) return CHARACTER_CLASS.thai;
  if (unit >= 0x400 && unit < 0x530) return CHARACTER_CLASS.cyrillic;
  if (unit >= 0x1100 && unit < 0x1200) return CHARACTER_CLASS.hangul;
  return unit >= 0x1e00 && unit < 0x1f00 ? CHARACTER_CLASS.accented : CHARACTER_CLASS.other;
}

function classifyEastAsian(unit: number): number {
  if (unit >= 0xd800 && unit < 0xe000) return CHARACTER_CLASS.emoji;
  if (unit >= 0x3040 && unit < 0x3100) return CHARACTER_CLASS.kana;
  if (unit >= 0xac00 && unit < 0xd7b0) return CHARACTER_CLASS.hangul;
  if (unit >= 0x3000 && unit < 0x3040) return CHARACTER_CLASS.wideMark;
  if (unit >= 0xff00) return CHARACTER_CLASS.wideMark;
  return (unit >= 0x2e80 && unit < 0x4e00) || (unit >= 0xf900 && unit < 0xfb00)
    ? CHARACTER_CLASS.han
    : CHARACTER_CLASS.symbol;
}

type TextFeature = (typeof TEXT_FEATURES)[number];

/** Factor by which an uncalibrated estimate is raised before it is compared with a limit. */
export const SAFETY = 1.2;

/** Tokens of an image of any size: providers scale large ones down. */
export const IMAGE_TOKENS = 1_500;

/** Tokens of a role and its delimiters. */
const MESSAGE_TOKENS = 4;
/** Tokens of the frame around a tool call or its result, including its id. */
const CALL_TOKENS = 12;
/** Bytes per token of text, or of media that providers read as text, if its content is not available. */
const BYTES_PER_TOKEN = 4;
/** Compressed sound takes ten to twenty tokens a second; uncompressed sound has more bytes per token. */
const SOUND_BYTES_PER_TOKEN = 800;

/** Counts the tokens of a text. */
type TextCounter = (text: string) => number;

/** Estimated tokens of a message in a window, including reasoning. */
export function estimateMessage(message: Message): number {
  return sumParts(requireParts(message), MESSAGE_TOKENS, estimateText);
}

/**
 * Like `estimateMessage`, but counts texts with a tokenizer; frames, images and content outside the log are still
 * estimated.
 */
export function tokensOfMessage(message: Message, tokenizer?: Tokenizer): number {
  if (!tokenizer) return estimateMessage(message);
  return sumParts(requireParts(message), MESSAGE_TOKENS, (text) => tokenizer.count(text));
}

function sumParts(parts: readonly Part[], frame: number, count: TextCounter): number {
  let tokens = frame;
  for (const part of parts) {
    if (part.type === "text") tokens += count(part.text);
    else if (part.type === "reasoning") tokens += countReasoning(part.text, part.opaque, count);
    else if (part.type === "tool-call")
      tokens += CALL_TOKENS + count(part.name) + countJson(part.input, count);
    else if (part.type === "tool-result") tokens += sumParts(part.output, CALL_TOKENS, count);
    else if (part.type === "blob") tokens += countBlob(part, count);
    else tokens += countRaw(JSON.stringify(part.value), count);
  }
  return tokens;
}

const PICTURE = /data:image\/[\w.+-]+;base64,[\w+/=-]*/g;

/** Images inside raw provider data count as images. */
function countRaw(json: string, count: TextCounter): number {
  const pictures = json.match(PICTURE)?.length ?? 0;
  return pictures === 0 ? count(json) : count(json.replace(PICTURE, "")) + pictures * IMAGE_TOKENS;
}

/**
 * A signature next to readable reasoning is not charged; reasoning that is only ciphertext is counted by its length.
 */
function countReasoning(text: string, opaque: Json | undefined, count: TextCounter): number {
  if (text.length > 0 || opaque === undefined) return count(text);
  return Math.ceil(JSON.stringify(opaque).length / BYTES_PER_TOKEN);
}

function countBlob(blob: BlobPart, count: TextCounter): number {
  if (blob.of === undefined) {
    if (blob.mime.startsWith("image/")) return IMAGE_TOKENS;
    return Math.ceil(
      blob.sizeBytes / (blob.mime.startsWith("audio/") ? SOUND_BYTES_PER_TOKEN : BYTES_PER_TOKEN),
    );
  }
  const frame = blob.of === "tool-call" ? CALL_TOKENS + count(blob.toolName ?? "") : 0;
  return frame + countSpilled(blob, count);
}

/** Extrapolates from the preview of a blob to the whole: the same number of tokens per byte. */
function countSpilled({ of, preview, sizeBytes, shownCharacters }: BlobPart, count: TextCounter): number {
  if (shownCharacters !== undefined && preview)
    return Math.ceil((count(preview) * Math.min(shownCharacters, sizeBytes)) / preview.length);
  if (!preview) return Math.ceil(Math.min(shownCharacters ?? sizeBytes, sizeBytes) / BYTES_PER_TOKEN);
  const picture = of === "raw" ? preview.search(PICTURE) : -1;
  if (picture >= 0) return count(preview.slice(0, picture)) + IMAGE_TOKENS;
  return Math.ceil((count(preview) * sizeBytes) / utf8Length(preview));
}

function countJson(value: Json, count: TextCounter): number {
  return count(typeof value === "string" ? value : JSON.stringify(value));
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800 || (unit >= 0xd800 && unit < 0xe000)) bytes += 2;
    else bytes += 3;
  }
  return bytes;
}
