/** Numbers of the tokens that mark the parts of a pair. */
export const START_TOKEN = 101;
export const SEPARATOR_TOKEN = 102;
const UNKNOWN_TOKEN = 100;

/** Longer words are data and are not split into pieces. */
const MAX_WORD_CHARACTERS = 100;
const ACCENTS = /\p{Mn}/gu;
const ASCII_MARKS = "!-/:-@\\[-`{-~";
const HAN = "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff";
/** A mark or a Chinese character by itself, or a run of anything else. */
const WORDS = new RegExp(`[${ASCII_MARKS}${HAN}]|\\p{P}|[^\\s\\p{P}${ASCII_MARKS}${HAN}]+`, "gu");

/** Splits text into the tokens of a BERT model without case: words, and pieces of words that it does not know. */
export class WordPieces {
  readonly #numbers: ReadonlyMap<string, number>;

  /** `words` are in the order of their numbers. */
  constructor(words: readonly string[]) {
    this.#numbers = new Map(words.map((word, number) => [word, number]));
  }

  /** The first tokens of a text, at most `maxTokens`. */
  encode(text: string, maxTokens: number): number[] {
    const folded = text.toLowerCase().normalize("NFD").replace(ACCENTS, "");
    const tokens: number[] = [];
    for (const [word] of folded.matchAll(WORDS)) {
      if (tokens.length >= maxTokens) break;
      tokens.push(...this.#splitWord(word));
    }
    return tokens.slice(0, maxTokens);
  }

  /** The longest known pieces, from left to right. */
  #splitWord(word: string): number[] {
    if (word.length > MAX_WORD_CHARACTERS) return [UNKNOWN_TOKEN];
    const pieces: number[] = [];
    for (let from = 0; from < word.length; ) {
      let to = word.length;
      let number: number | undefined;
      for (; to > from; to--) {
        number = this.#numbers.get(from === 0 ? word.slice(0, to) : `##${word.slice(from, to)}`);
        if (number !== undefined) break;
      }
      if (number === undefined) return [UNKNOWN_TOKEN];
      pieces.push(number);
      from = to;
    }
    return pieces;
  }
}
