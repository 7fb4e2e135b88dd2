import { CHARACTER_CLASS, classifyCharacter } from "./character-class.ts";

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
] as const;

const AT = Object.fromEntries(TEXT_FEATURES.map((name, index) => [name, index])) as Readonly<
  Record<(typeof TEXT_FEATURES)[number], number>
>;

/** A word of this length is mostly one token; each further letter counts separately. */
const COMMON_LENGTH = 7;
const DIGITS_PER_TOKEN = 3;
/** A change of case after so few letters indicates a key or base64 rather than a name. */
const SCRAMBLED_LENGTH = 2;

const {
  words: WORDS,
  joinedWords: JOINED,
  scrambled: SCRAMBLED,
  wordsAfterDigits: AFTER_DIGITS,
  longWordLetters: LONG,
  capitals: CAPITALS,
  digitGroups: DIGITS,
  marks: MARKS,
  furtherMarks: FURTHER,
  repeatedMarks: REPEATED,
  indents: INDENTS,
  lineBreaks: BREAKS,
  han: HAN,
} = AT;

/** Counts the features of a text in one pass, into `counts` if given. */
export function countFeatures(text: string, counts = new Float64Array(TEXT_FEATURES.length)): Float64Array {
  let before: number = CHARACTER_CLASS.space;
  let unitBefore = 0;
  let run = 0;
  let runBefore = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const script = classifyCharacter(unit);
    runBefore = run;
    run = script === before ? run + 1 : 1;
    switch (script) {
      case CHARACTER_CLASS.lower:
        // The capital letter that begins a word has already been counted as a word.
        if (run === 1 && before === CHARACTER_CLASS.upper) run = 2;
        else if (run === 1) add(counts, chooseWordFeature(before));
        if (run > COMMON_LENGTH) add(counts, LONG);
        break;
      case CHARACTER_CLASS.upper:
        if (run > 1) add(counts, CAPITALS);
        else if (before !== CHARACTER_CLASS.lower) add(counts, chooseWordFeature(before));
        else add(counts, runBefore <= SCRAMBLED_LENGTH ? SCRAMBLED : JOINED);
        break;
      case CHARACTER_CLASS.space:
        if (run === 2) add(counts, INDENTS);
        break;
      case CHARACTER_CLASS.lineBreak:
        if (run === 1) add(counts, BREAKS);
        break;
      case CHARACTER_CLASS.digit:
        if (run % DIGITS_PER_TOKEN === 1) add(counts, DIGITS);
        break;
      case CHARACTER_CLASS.mark:
        if (run === 1) add(counts, MARKS);
        else add(counts, unit === unitBefore ? REPEATED : FURTHER);
        break;
      default:
        add(counts, HAN + script - CHARACTER_CLASS.han);
    }
    before = script;
    unitBefore = unit;
  }
  return counts;
}

function chooseWordFeature(before: number): number {
  if (before === CHARACTER_CLASS.space) return WORDS;
  return before === CHARACTER_CLASS.digit ? AFTER_DIGITS : JOINED;
}

function add(counts: Float64Array, feature: number): void {
  counts[feature] = (counts[feature] as number) + 1;
}
