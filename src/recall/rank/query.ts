import { foldText } from "../../model/sentences.ts";
import { analyzeText, analyzeWord } from "../text/analyze-text.ts";
import { splitWords } from "../text/split-words.ts";
import { parseIntent, type QuestionIntent } from "./question-intent.ts";
import { parseTimeWindows, type TimeWindow } from "./time-window.ts";
import type { RankContext } from "./turn-candidate.ts";

/** Maximum number of terms; more add little and cost time, since a pasted document is not a question. */
const MAX_TERMS = 64;

/** A parsed question. */
export interface Query {
  /** Each term once, in the question's order, without the names of speakers. */
  readonly terms: readonly string[];
  /** Rarity of each term, in the order of `terms`. */
  readonly rarities: readonly number[];
  /** True for a term that is part of a name or title, in the order of `terms`. */
  readonly isName: readonly boolean[];
  /** Speakers that the question names, folded. */
  readonly speakers: readonly string[];
  readonly intent: QuestionIntent;
  readonly windows: readonly TimeWindow[];
}

/** Parses a question in the context of its scope. */
export function parseQuery(text: string, { statistics, nowMs, speakers }: RankContext): Query {
  const folded = foldText(text);
  const named = speakers.map(foldText).filter((name) => name !== "" && isMentioned(folded, name));
  const hidden = new Set(named.flatMap(analyzeText));
  const all = [...new Set(analyzeText(text))].filter((term) => !hidden.has(term));
  const rarity = (term: string) => computeRarity(statistics.frequencyOf(term), statistics.chunks);
  const terms = all.length > MAX_TERMS ? pickRarest(all, rarity, MAX_TERMS) : all;
  const names = new Set(
    splitWords(text)
      .slice(1)
      .filter((word) => /^[\p{Lu}\p{N}]/u.test(word) && !/^I(?:'|’|$)/.test(word))
      .flatMap((word) => analyzeWord(word)),
  );
  return {
    terms,
    rarities: terms.map(rarity),
    isName: terms.map((term) => names.has(term)),
    speakers: named,
    intent: parseIntent(text),
    windows: parseTimeWindows(text, nowMs),
  };
}

/**
 * The question to embed, without names of speakers: the speaker is known separately, and the name would favor texts
 * that mention it.
 */
export function withoutSpeakers(question: string, speakers: readonly string[]): string {
  let text = question;
  for (const name of speakers.filter((speaker) => speaker !== "")) {
    const pattern = name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    text = text.replace(new RegExp(`(?<!\\p{L})${pattern}(?:['’]s)?(?!\\p{L})`, "giu"), " ");
  }
  return text.trim() === "" ? question : text;
}

function isMentioned(text: string, name: string): boolean {
  const at = text.indexOf(name);
  if (at < 0) return false;
  return !/\p{L}/u.test(text[at - 1] ?? " ") && !/\p{L}/u.test(text[at + name.length] ?? " ");
}

function computeRarity(frequency: number, documents: number): number {
  return Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5));
}

function pickRarest(terms: readonly string[], rarity: (term: string) => number, most: number): string[] {
  const chosen = new Set([...terms].sort((a, b) => rarity(b) - rarity(a)).slice(0, most));
  return terms.filter((term) => chosen.has(term));
}
