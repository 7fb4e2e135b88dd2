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

const PATTERNS: readonly (readonly [Trait, RegExp])[] = [
  ["number", new RegExp(`\\d|\\b(?:${COUNT_WORD})\\b|[一二三四五六七八九十百千万]`, "i")],
  ["money", /[$€£¥]\s?\d|\d\s?(?:dollars|euros|pounds|bucks|usd|eur|元|円)/i],
  [
    "duration",
    new RegExp(`(?:\\d|\\b(?:an?|${COUNT_WORD}|few|couple of|several|half))[ -](?:${UNIT})\\b`, "i"),
  ],
  [
    "time",
    new RegExp(
      `\\b(?:yesterday|today|tomorrow|tonight|ago|(?:last|next|this|past) (?:week|month|year|weekend|night|summer|winter|spring|fall|${WEEKDAY})|` +
        `${WEEKDAY}|${MONTH}|may \\d|\\d:\\d\\d|(?:19|20)\\d\\d|since|recently|[ap]m)\\b`,
      "i",
    ),
  ],
  ["name", /[\p{Ll},] (?!I\b)\p{Lu}\p{Ll}+/u],
  ["personal", /\b(?:I|I'm|I've|I'd|I'll|my|me|mine|we|our|we're|we've)\b|我|俺|私|僕|나는|내가|저는/i],
  ["event", new RegExp(`\\b(?:I|we|I've|we've|I'd)\\b (?:(?:${ADVERB}) )*(?:been|${PAST})\\b`, "i")],
  [
    "rule",
    /(?:^|[.!?\n]\s{0,8})(?:please )?(?:always|never|from now on|remember to|make sure (?:to|you)|don't ever)\b|\bwhen(?:ever)? I ask\b|\bfrom now on\b|以后|请记住|今後は/i,
  ],
  [
    "preference",
    /\bI (?:really |also |usually |generally |would |do |don't |much )*(?:prefer|like|love|enjoy|hate|dislike|tend to)\b|\bI'd (?:rather|prefer|love)\b|\bmy (?:favou?rite|preference)|\bI'm (?:a fan|into|not a)|喜欢|偏好|好き/i,
  ],
  ["question", /[?？]/],
  ["code", /```|^(?: {4}|\t)\S|[{};][ \t]{0,8}$|\w\(\w*\)/m],
];
const SENTENCE_END = /(?<=[.!?。！？])\s+|\n+/;

/** The traits of a text, as bits of `TRAIT`. */
export function traitsOf(text: string): number {
  let bits = 0;
  for (const [trait, pattern] of PATTERNS) if (pattern.test(text)) bits |= TRAIT[trait];
  const hasStatement =
    (bits & TRAIT.question) === 0 ||
    text
      .split(SENTENCE_END)
      .some((sentence) => sentence.length > 12 && !/[?？]["')\]]{0,8}$/.test(sentence.trimEnd()));
  return hasStatement ? bits | TRAIT.statement : bits;
}
