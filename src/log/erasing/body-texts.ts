import { walkJson } from "../../model/base/walk-json.ts";
import type { EntryBody } from "../../model/entry.ts";
import type { Message } from "../../model/message.ts";
import { ADDED_ELEMENTS } from "../../model/message-tags.ts";
import { listSingleEdits } from "../../model/overlay.ts";
import type { Part } from "../../model/part.ts";
import { removeElements } from "../../model/remove-elements.ts";
import { MIN_SENTENCE_WORDS, normalizeValue, splitAtSentences } from "../../model/sentences.ts";

/** A text of an entry by which copies of it are found. */
interface BodyText {
  readonly text: string;
  /** True for words of people and models, whose sentences are compared one by one; false for output of tools. */
  readonly isProse: boolean;
}

/** All texts of a body, each once; a part that was stored apart is named by its digest. */
export function* listBodyTexts(body: EntryBody): Generator<BodyText> {
  if (body.kind === "message") yield* listMessageTexts(body.message);
  else if (body.kind === "notice") yield { text: body.text, isProse: true };
  else if (body.kind === "raw" && body.blob) yield { text: nameBlob(body.blob.digest), isProse: false };
  else if (body.kind === "raw" && body.value !== undefined) {
    for (const { value } of walkJson(body.value))
      if (typeof value === "string") yield { text: value, isProse: false };
  } else if (body.kind === "overlay")
    for (const edit of listSingleEdits(body.edit)) {
      if (edit.type === "replace") for (const part of edit.parts) yield* listPartTexts(part, true);
      if (edit.type === "summarize")
        for (const message of edit.messages ?? []) yield* listMessageTexts(message);
    }
}

function* listMessageTexts({ role, parts }: Message): Generator<BodyText> {
  for (const part of parts) yield* listPartTexts(part, role !== "tool");
}

function* listPartTexts(part: Part, isProse: boolean): Generator<BodyText> {
  if (part.type === "text" || part.type === "reasoning") yield { text: part.text, isProse };
  else if (part.type === "tool-call") yield { text: JSON.stringify(part.input), isProse: false };
  else if (part.type === "tool-result") for (const inner of part.output) yield* listPartTexts(inner, false);
  else if (part.type === "blob") yield { text: nameBlob(part.digest), isProse: false };
}

/** The text that stands for bytes of a blob. */
export function nameBlob(digest: string): string {
  return `blob ${digest}`;
}

/** Shorter texts are too common to be a copy of one another. */
const MIN_CHARACTERS = 12;
/** A text with more sentences counts as pasted. Only whole copies of it are found, not corrected ones. */
const MAX_SENTENCES = 60;
const TAGS = /<\/?[\w-]+(?:\s[^<>]*)?>/g;
const CODE = /```[\s\S]*?(?:```|$)/g;

/** The spellings of a whole text by which a copy is recognized; empty for a common one. */
export function listWholes(text: string): readonly string[] {
  const wholes = [normalizeWords(text), normalizeWords(removeElements(text, ADDED_ELEMENTS, " "))];
  return [...new Set(wholes)].filter(({ length }) => length >= MIN_CHARACTERS);
}

/** Longest opening that a title quotes. */
const MAX_OPENING = 160;

/** Sentences of a text that a title may begin with. */
const MAX_TITLED = 10;

/** The beginnings of a text and of its first sentences, each of whole words: a title may be any of them. */
export function listOpenings(text: string): readonly string[] {
  const own = removeElements(text, ADDED_ELEMENTS, " ");
  const starts = [own.slice(0, 4 * MAX_OPENING), ...listSentences(own).slice(0, MAX_TITLED)];
  return [...new Set(starts.flatMap(listBeginnings))];
}

function listBeginnings(text: string): readonly string[] {
  const words = normalizeWords(text).split(" ");
  const beginnings: string[] = [];
  for (let beginning = ""; beginning.length <= MAX_OPENING; ) {
    const word = words.shift();
    if (word === undefined) break;
    beginning = beginning === "" ? word : `${beginning} ${word}`;
    if (beginning.length >= MIN_CHARACTERS) beginnings.push(beginning);
  }
  return beginnings;
}

/** The spelling of a title by which it is found among openings; a word that was cut off does not count. */
export function normalizeTitle(title: string): string {
  return normalizeWords(title.replace(/\S*…\s*$/, ""));
}

/** The sentences of a text that stand for something by themselves. */
export function listSentences(text: string): readonly string[] {
  const pieces = splitAtSentences(removeElements(text, ADDED_ELEMENTS, " ").replace(CODE, "\n"));
  if (pieces.length > 2 * MAX_SENTENCES) return [];
  return pieces.flatMap((piece, index) => (index % 2 === 0 ? (normalizeSentence(piece) ?? []) : []));
}

/** One spelling of a sentence; undefined for one that many texts have. */
export function normalizeSentence(sentence: string): string | undefined {
  const words = normalizeWords(sentence);
  return words.length >= MIN_CHARACTERS && words.split(" ").length >= MIN_SENTENCE_WORDS ? words : undefined;
}

/** One spelling of a text: without tags, case, accents, and punctuation around words. */
export function normalizeWords(text: string): string {
  return normalizeValue(text.replace(TAGS, " "));
}
