/** Kinds of content in a text, as bits of one number that the index stores with the text. */
export const TRAIT = {
  number: 1,
  money: 2,
  duration: 4,
  time: 8,
  name: 16,
  personal: 32,
  event: 64,
  rule: 128,
  preference: 256,
  question: 512,
  statement: 1024,
  code: 2048,
} as const;

export type Trait = keyof typeof TRAIT;

const COUNT_WORD =
  "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand";
const UNIT = "seconds?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|months?|years?|decades?";
const MONTH = "january|february|march|april|june|july|august|september|october|november|december";
const WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day";
const PAST =
  "\\w+ed|got|went|bought|took|made|saw|met|had|was|were|did|found|came|gave|began|won|lost|spent|paid|read|ran|ate|wrote|" +
  "told|heard|felt|knew|thought|left|kept|built|taught|sold|sent|drove|flew|fell|grew|caught|brought|chose|broke|became";
const ADVERB = "just|recently|finally|actually|also|already|even|only|really|once|always|never|both|still";

/** Kinds of characters, as bits. */
const HAS = { letter: 1, digit: 2, gap: 4, space: 8, code: 16, wide: 32, question: 64 } as const;
const { letter, digit, gap, space, code, wide, question } = HAS;

/** A trait, its pattern, and the kinds of characters that a match needs: one of `kinds`, and one of `others`. */
const PATTERNS: readonly (readonly [Trait, RegExp, kinds: number, others?: number])[] = [
  [
    "number",
    new RegExp(`\\d|\\b(?:${COUNT_WORD})\\b|[一二三四五六七八九十百千万]`, "i"),
    letter | digit | wide,
  ],
  ["money", /[$€£¥]\s?\d|\d\s?(?:dollars|euros|pounds|bucks|usd|eur|元|円)/i, digit],
  [
    "duration",
    new RegExp(`(?:\\d|\\b(?:an?|${COUNT_WORD}|few|couple of|several|half))[ -](?:${UNIT})\\b`, "i"),
    gap,
    letter,
  ],
  [
    "time",
    new RegExp(
      `\\b(?:yesterday|today|tomorrow|tonight|ago|(?:last|next|this|past) (?:week|month|year|weekend|night|summer|winter|spring|fall|${WEEKDAY})|` +
        `${WEEKDAY}|${MONTH}|may \\d|\\d:\\d\\d|(?:19|20)\\d\\d|since|recently|[ap]m)\\b`,
      "i",
    ),
    letter | digit,
  ],
  ["name", /[\p{Ll},] (?!I\b)\p{Lu}\p{Ll}+/u, space, letter | wide],
  [
    "personal",
    /\b(?:I|I'm|I've|I'd|I'll|my|me|mine|we|our|we're|we've)\b|我|俺|私|僕|나는|내가|저는/i,
    letter | wide,
  ],
  [
    "event",
    new RegExp(`\\b(?:I|we|I've|we've|I'd)\\b (?:(?:${ADVERB}) )*(?:been|${PAST})\\b`, "i"),
    space,
    letter,
  ],
  [
    "rule",
    /(?:^|[.!?\n]\s{0,8})(?:please )?(?:always|never|from now on|remember to|make sure (?:to|you)|don't ever)\b|\b(?:whenever|(?:every|each|any) ?time) (?:I|we|you)\b|\b(?:from now on|going forward)\b|以后|请记住|从现在起|今后|每次都|务必|别再|不要再|今後は|これからは|必ず/i,
    letter | wide,
  ],
  [
    "preference",
    /\bI (?:really |also |usually |generally |would |do |don't |much )*(?:prefer|like|love|enjoy|hate|dislike|tend to)\b|\bI'd (?:rather|prefer|love)\b|\bmy (?:favou?rite|preference)|\bI'm (?:a fan|into|not a)|喜欢|偏好|好き/i,
    space | wide,
    letter | wide,
  ],
  ["question", /[?？]/, question | wide],
  ["code", /```|^(?: {4}|\t)\S|[{};][ \t]{0,8}$|\w\(\w*\)/m, code | space],
];
const SENTENCE_END = /(?<=[.!?。！？])\s+|\n+/;

const KINDS = new Uint8Array(128);
for (const [kind, characters] of [
  [letter, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"],
  [digit, "0123456789"],
  [gap, "-"],
  [space | gap, " "],
  [code, "`\t{};("],
  [question, "?"],
] as const)
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind;

/** The kinds of characters in a text. */
function kindsIn(text: string): number {
  let kinds = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    kinds |= unit < 128 ? (KINDS[unit] as number) : wide;
  }
  return kinds;
}

/** The traits of a text. */
export function detectTraits(text: string): number {
  const kinds = kindsIn(text);
  let bits = 0;
  for (const [trait, pattern, some, others = some] of PATTERNS)
    if ((kinds & some) !== 0 && (kinds & others) !== 0 && pattern.test(text)) bits |= TRAIT[trait];
  const hasStatement =
    (bits & TRAIT.question) === 0 ||
    text
      .split(SENTENCE_END)
      .some((sentence) => sentence.length > 12 && !/[?？]["')\]]{0,8}$/.test(sentence.trimEnd()));
  return hasStatement ? bits | TRAIT.statement : bits;
}
