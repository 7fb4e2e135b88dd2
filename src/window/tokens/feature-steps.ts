import { CHARACTER_CLASS, classifyCharacter } from "./character-class.ts";

import { TEXT_FEATURES, type TextFeature, TOKENS_PER } from "./token-weights.ts";

/** The state of counting: the class of the last character and the length of the run that it ends. */
interface RunState {
  readonly script: number;
  readonly run: number;
}

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
/** The feature of characters that count as none. */
const NO_FEATURE = TEXT_FEATURES.length;

export const WEIGHT_MASK: number = (1 << WEIGHT_BITS) - 1;
export const FEATURE_MASK: number = (1 << FEATURE_BITS) - 1;
export const FEATURE_SHIFT: number = WEIGHT_BITS;
export const STATE_SHIFT: number = WEIGHT_BITS + FEATURE_BITS;

/** Twice the class of each UTF-16 unit, as an index of `STEPS` has it. */
export const UNIT_CLASSES: Uint8Array = Uint8Array.from(
  { length: 65_536 },
  (_, unit) => classifyCharacter(unit) << 1,
);

/**
 * Thousandths of a token of each character, its feature and the next state, at `state | UNIT_CLASSES[unit] | same`; `same`
 * is 1 after an equal unit. A processor guesses most branches on a text wrong, so there are none.
 */
export const STEPS: Uint32Array = buildSteps();

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
