import { isWhiteSpace } from "../../../model/white-space.ts";

const END = /(?<=[.!?…]["')\]]?)\s+(?=\S)|(?<=[。！？；])\s*(?=\S)/u;
const LONG_SENTENCE = 300;
const SHORT_LINE = 16;
const OUTER_CHARACTERS = 131_072;
const NEWLINE = 0x0a;
/** Matches code, tables and rules, which contain no sentences. */
const NO_PROSE =
  /^\s*(?:```|\||[-=*_]{3,}|[{}()[\];,]+\s*$|(?:import|export|const|let|var|function|class|def|return|if|for|while)\b.*[{;(=:]\s*$)/;
/** Patterns that can match a line, by its first character; most lines need no pattern at all. */
const [MAY_BE_FENCE, MAY_BE_NO_PROSE, MAY_BE_MARKED, MAY_BE_RULE] = [1, 2, 4, 8] as const;
const BEGINNINGS = new Uint8Array(128);
for (const [characters, bit] of [
  ["`~", MAY_BE_FENCE],
  ["`|{}()[];,iecvlfdrw", MAY_BE_NO_PROSE],
  ["-=*_", MAY_BE_RULE],
  ["#>-*0123456789", MAY_BE_MARKED],
] as const)
  for (const character of characters) BEGINNINGS[character.charCodeAt(0)] = bitsAt(character, 0, 1) | bit;
const BULLET = 0x2022;
/** A line that does not match contains no sentence end before its last character. */
const MAY_END = /[.!?…。！？；][\s\S]/;
let segmenter: Intl.Segmenter | undefined;

/** The sentences of a text, line by line, without list and heading marks; code blocks are skipped. */
export function splitSentences(text: string): readonly string[] {
  const sentences: string[] = [];
  let isCode = false;
  for (let from = 0, end = 0; from < text.length; from = end + 1) {
    end = findLineEnd(text, from);
    while (from < end && isWhiteSpace(text.charCodeAt(from))) from++;
    if (from === end) continue;
    const bits = bitsAt(text, from, end);
    if ((bits & MAY_BE_FENCE) !== 0 && isFence(text, from, end)) isCode = !isCode;
    if (isCode || (mayBeNoProse(text, from, end, bits) && NO_PROSE.test(text.slice(from, end)))) continue;
    const start = (bits & MAY_BE_MARKED) === 0 ? from : skipMarks(text, from, end);
    const plain = trimmed(text.slice(start, end));
    if (plain !== "") addSentences(sentences, plain);
  }
  return sentences;
}

/** The sentences at the beginning and the end of a text; skips the middle of a very long one. */
export function splitOuterSentences(text: string): readonly string[] {
  if (text.length <= 2 * OUTER_CHARACTERS) return splitSentences(text);
  const [head, tail] = [text.slice(0, OUTER_CHARACTERS), text.slice(-OUTER_CHARACTERS)];
  return [...splitSentences(head), ...splitSentences(tail)];
}

/** Looks at the first few characters one by one: its own search for each of many short lines takes longer. */
function findLineEnd(text: string, from: number): number {
  const near = Math.min(from + SHORT_LINE, text.length);
  for (let at = from; at < near; at++) if (text.charCodeAt(at) === NEWLINE) return at;
  const next = near < text.length ? text.indexOf("\n", near) : -1;
  return next < 0 ? text.length : next;
}

/** True for the line of a text between two places that begins or ends a block of code. */
function isFence(text: string, from: number, end: number): boolean {
  return from + 3 <= end && (text.startsWith("```", from) || text.startsWith("~~~", from));
}

/** Adds the sentences of a trimmed line. */
function addSentences(sentences: string[], line: string): void {
  if (line.length <= LONG_SENTENCE && (line.length === 1 || !MAY_END.test(line))) sentences.push(line);
  else
    for (const piece of line.split(END)) {
      const own =
        piece.length > LONG_SENTENCE && /[^\x20-\x7e]/.test(piece) ? segmentSentences(piece) : [piece];
      for (const sentence of own.map(trimmed)) if (sentence !== "") sentences.push(sentence);
    }
}

/** Like `trim`, but faster for text with nothing to trim. */
function trimmed(text: string): string {
  if (text === "") return text;
  const isBare = isPrinted(text.charCodeAt(0)) && isPrinted(text.charCodeAt(text.length - 1));
  return isBare ? text : text.trim();
}

function isPrinted(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

function mayBeNoProse(text: string, from: number, end: number, bits: number): boolean {
  if ((bits & MAY_BE_NO_PROSE) !== 0) return true;
  // A rule repeats its character; a list mark does not.
  return (bits & MAY_BE_RULE) !== 0 && (bitsAt(text, from + 1, end) & MAY_BE_RULE) !== 0;
}

function bitsAt(text: string, at: number, end: number): number {
  const code = at < end ? text.charCodeAt(at) : 0;
  if (code < 128) return BEGINNINGS[code] as number;
  return code === BULLET ? MAY_BE_MARKED : 0;
}

/** Handles scripts that end sentences with other characters, or with none. */
function segmentSentences(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "sentence" });
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}

const [HASH, RIGHT_BRACKET, ASTERISK, HYPHEN, DOT, GREATER] = [0x23, 0x29, 0x2a, 0x2d, 0x2e, 0x3e] as const;
const COMMA = 0x3001;
const CHECKBOX = /\[[ xX]\]/y;

/** Where the line between two places continues after the marks of headings, quotes, lists and boxes to check. */
function skipMarks(text: string, from: number, end: number): number {
  let at = from;
  for (let next = skipMark(text, at, end); next > at; next = skipMark(text, at, end)) at = next;
  return at;
}

/** The place after the mark at a place and its spaces; the same place if there is none. */
function skipMark(text: string, at: number, end: number): number {
  const code = codeAt(text, at, end);
  if (code === GREATER) return skipSpaces(text, at + 1, end);
  if (code === HYPHEN || code === ASTERISK || code === BULLET) {
    const after = skipSpaces(text, at + 1, end);
    return after === at + 1 ? at : skipCheckbox(text, after, end);
  }
  let place = at;
  if (code === HASH) while (codeAt(text, place, end) === HASH && place - at < 6) place++;
  else if (isDigit(code)) {
    while (isDigit(codeAt(text, place, end)) && place - at < 3) place++;
    if (!isAfterNumber(codeAt(text, place, end))) return at;
    place++;
  } else return at;
  const after = skipSpaces(text, place, end);
  return after === place ? at : after;
}

function skipCheckbox(text: string, at: number, end: number): number {
  if (at + 3 > end || text[at] !== "[") return at;
  CHECKBOX.lastIndex = at;
  return CHECKBOX.test(text) ? skipSpaces(text, at + 3, end) : at;
}

function skipSpaces(text: string, from: number, end: number): number {
  let at = from;
  while (isWhiteSpace(codeAt(text, at, end))) at++;
  return at;
}

function isAfterNumber(code: number): boolean {
  return code === DOT || code === RIGHT_BRACKET || code === COMMA;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** The code at a place; 0 after the end. */
function codeAt(text: string, at: number, end: number): number {
  return at < end ? text.charCodeAt(at) : 0;
}

/** The reason for keeping a sentence. */
export type SentenceCue = "decision" | "constraint" | "question" | "next";

const EN_DECISION =
  /\b(?:decid(?:e|ed|ing) (?:to|on|that|against)|decision(?: is|:)|let'?s (?:go with|use|keep|do|drop|switch|stick)|go(?:ing)? with|we(?:'ll| will| should) (?:use|keep|go|stick|switch|call|drop)|(?:chose|choose|chosen|picked|opted)\b|agreed|instead of|rather than|root cause|turns out|the (?:fix|cause|problem|issue|reason) (?:is|was)|conclusion|concluded|option [A-D1-9]\b)/i;
const ZH_DECISION =
  /决定|采用|选用|选择了|改用|改为|确定用|结论|根因|根本原因|原因是|最终方案|就用|定为|同意/;
const EN_CONSTRAINT =
  /\b(?:must(?: not|n't)?|never|always|do(?: not|n't)\b|should(?: not|n't)|may not|cannot|can'?t\b|only (?:use|if|when|the|in)|without\b|no (?:more|longer|less|new|other) |at (?:most|least)|required?|requirement|constraint|make sure|ensure|be sure|avoid|prefer|keep (?:it|the|this)|stick to|deadline|limit(?:ed)? to|budget|backwards? compatib)/i;
const ZH_CONSTRAINT =
  /必须|不要|不能|不可|禁止|只能|务必|确保|不得|限制|约束|不允许|不许|仅限|至少|至多|最多|保持|避免|要求|一定要|注意/;
const EN_QUESTION =
  /\b(?:open question|unclear|not sure (?:whether|if|why|how)|tbd|to be (?:decided|determined|confirmed)|need(?:s)? (?:to be )?(?:clarif|confirm)|waiting for (?:your|the user|an? answer))/i;
const ZH_QUESTION = /待确认|待定|尚不清楚|不确定|未确定|需要确认|有待|存疑|等待.{0,6}(?:确认|答复|回复)/;
const EN_NEXT =
  /\b(?:next(?: step|,| I| we)|I(?:'ll| will|'m going to| am going to| need to| still)|now I|let me|remaining|still (?:need|to|have|missing|fail)|left to do|then I|to do:|follow[- ]?up)\b/i;
const ZH_NEXT = /接下来|下一步|然后(?:我|再)|还需要|还要|尚未|剩下|剩余|我(?:将|会|先|再|来)|后续|待办/;

const MIN_CHARACTERS = 8;
const MAX_CHARACTERS = 600;

/** The cues in a sentence, in English and Chinese. */
export function detectCues(sentence: string): readonly SentenceCue[] {
  if (sentence.length < MIN_CHARACTERS && !/[\u4e00-\u9fff]{4}/.test(sentence)) return [];
  if (sentence.length > MAX_CHARACTERS) return [];
  const cues: SentenceCue[] = [];
  if (EN_DECISION.test(sentence) || ZH_DECISION.test(sentence)) cues.push("decision");
  if (EN_CONSTRAINT.test(sentence) || ZH_CONSTRAINT.test(sentence)) cues.push("constraint");
  if (isQuestion(sentence) || EN_QUESTION.test(sentence) || ZH_QUESTION.test(sentence)) cues.push("question");
  if (EN_NEXT.test(sentence) || ZH_NEXT.test(sentence)) cues.push("next");
  return cues;
}

/** True if a sentence is a question. */
export function isQuestion(sentence: string): boolean {
  return /[?？]["'”’)\]）*_]*$/.test(sentence.trimEnd());
}

/** True for strong rule words, which count even if the assistant says them. */
export function isRule(sentence: string): boolean {
  return /\b(?:must|never|constraint|not allowed|forbidden|limitation)\b|必须|禁止|不得|约束|不允许/i.test(
    sentence,
  );
}
