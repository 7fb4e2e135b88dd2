import type { Chunk } from "./split-text.ts";
import { splitStatements } from "./statements.ts";

/** Kinds of decisions: a choice, something ruled out, the cause of a fault, a rule for later work, a preference. */
export type DecisionKind = "choice" | "rejection" | "cause" | "rule" | "preference";

/** A sentence that decides something, as a range of its text; the higher its strength, the clearer. */
interface DecisionSentence extends Chunk {
  readonly kind: DecisionKind;
  readonly strength: number;
}

const WE = "(?:we|I|you|it|let['’]s|we['’](?:ll|ve|re)|I['’](?:ll|ve|m|d))";
const CHOSEN =
  "(?:use|using|go(?:ing)? with|cho(?:ose|se|osing)|pick(?:ed)?|keep(?:ing)?|kept|switch(?:ed|ing)?|adopt(?:ed)?|settled?|stick(?:ing)?|opt(?:ed)?|mov(?:e|ed|ing) to|default(?:s|ed)? to|replac(?:e|ed|ing))";
const FAULT = "(?:issue|problem|bug|fault|failure|error|regression|reason|cause|culprit|mistake)";
const ANSWER =
  "(?:fix|solution|approach|answer|plan|right (?:thing|way|place|call)|best (?:way|option|choice))";

/**
 * Signs of a decision, with a strength: 3 for words that say that one was made, 2 for a clear form of one, 1 for reasons
 * and consequences, which are decisions only next to another sign. A sentence's strength is their sum.
 */
const SIGNS: readonly (readonly [kind: DecisionKind, strength: number, sign: RegExp])[] = [
  [
    "choice",
    3,
    /\b(?:decided|decision|agreed|concluded|settled on|opted for)\b|决定|选定|确定(?:用|采用)|決めた|決定/i,
  ],
  ["choice", 2, new RegExp(`\\b${WE}\\s(?:\\w+\\s){0,2}${CHOSEN}\\b`, "i")],
  ["choice", 2, new RegExp(`\\bthe\\s(?:\\w+\\s)?${ANSWER}\\s(?:is|was|here|would be)\\b`, "i")],
  [
    "choice",
    2,
    /\b(?:instead(?: of)?|rather than|in favou?r of|better to|makes? (?:more )?sense to)\b|而不是|改用|改为|采用|代わりに/i,
  ],
  [
    "choice",
    1,
    /\b(?:we|I|it|they|this|that) should(?!\s+(?:I|we)\b)|\b(?:so that|therefore|that['’]s why|this means)\b|因此|所以/i,
  ],
  [
    "rejection",
    2,
    new RegExp(
      `\\b${WE}\\s(?:won['’]t|will not|don['’]t (?:need|want)|do not (?:need|want)|shouldn['’]t|should not|can['’]t use|no longer)\\b`,
      "i",
    ),
  ],
  [
    "rejection",
    2,
    /\b(?:rul(?:ed|ing) out|reject(?:ed|ing)?|abandon(?:ed|ing)?|not worth|no longer (?:needed|used|supported)|overkill)\b|不再|放弃|不采用|やめ/i,
  ],
  [
    "cause",
    3,
    /\b(?:root cause|turns? out|turned out|caused by|stems? from|boils down to)\b|根本原因|原因是|原来是|原因は/i,
  ],
  [
    "cause",
    2,
    new RegExp(
      `\\b(?:the|that|this|here['’]s the)\\s(?:\\w+\\s){0,2}${FAULT}\\s?(?:is|was|here|:|['’]s|comes|came)`,
      "i",
    ),
  ],
  ["cause", 1, /\b(?:because|due to|since (?:it|the|we|they)|which means)\b|因为|由于|ため/i],
  [
    "rule",
    2,
    /(?:^|[.!?\n;:]\s{0,4}|\bplease )(?:always|never|from now on|remember to|make sure (?:to|you|that)|don['’]t ever|do not ever)\b|\b(?:from now on|going forward|must (?:always|never|not))\b|以后|从现在起|今后|务必|不要再|必ず|今後は/i,
  ],
  [
    "preference",
    2,
    /\bI (?:\w+ )?(?:prefer|like|love|hate|dislike)\b|\bI['’]d (?:rather|prefer)\b|\bmy (?:favou?rite|preference)\b|更喜欢|偏好|好きです/i,
  ],
];

/** The least strength of a mark in the index, where a missed decision costs more than a doubtful one. */
const MIN_MARKED = 1;
/** Shorter sentences decide nothing that can be understood alone; longer ones are not one sentence. */
const MIN_CHARACTERS = 25;
const MAX_CHARACTERS = 400;
const MIN_WIDE_CHARACTERS = 8;
const WIDE = /[\u3040-\u30ff\u3400-\u9fff]/;
/** Code, tables, quoted output and questions. */
const NO_STATEMENT = /^(?:[|+>{}<]|\/\/|\d+[→\t])|[{};]$|[?？]["'”’)\]]*$/;
const CODE_BLOCK = /^```[^\n]*\n[\s\S]*?(?:^```|$(?![\s\S]))/gm;
/** One of these is in every sign, so that most texts need a single test. */
const MAY_DECIDE = new RegExp(SIGNS.map(([, , { source }]) => `(?:${source})`).join("|"), "im");

/** True if a text has a sentence that may decide something. */
export function hasDecision(text: string): boolean {
  return MAY_DECIDE.test(text) && findDecisions(text).length > 0;
}

/** The sentences of a text that decide something, in order. */
export function findDecisions(text: string, minStrength = MIN_MARKED): DecisionSentence[] {
  const prose = text.includes("```") ? text.replace(CODE_BLOCK, (code) => " ".repeat(code.length)) : text;
  return splitStatements(prose).flatMap((range) => {
    const sentence = prose.slice(range.from, range.to);
    const least = WIDE.test(sentence) ? MIN_WIDE_CHARACTERS : MIN_CHARACTERS;
    if (sentence.length < least || sentence.length > MAX_CHARACTERS || NO_STATEMENT.test(sentence)) return [];
    let strength = 0;
    let best: { readonly kind: DecisionKind; readonly strength: number } | undefined;
    for (const [kind, own, sign] of SIGNS) {
      if (!sign.test(sentence)) continue;
      strength += own;
      if (!best || own > best.strength) best = { kind, strength: own };
    }
    return best && strength >= minStrength ? [{ ...range, kind: best.kind, strength }] : [];
  });
}
