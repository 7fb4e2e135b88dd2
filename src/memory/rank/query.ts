import { analyse, termsOfWord } from "../text/analyse.ts";
import { fold } from "../text/fold.ts";
import { words } from "../text/words.ts";
import type { RankContext } from "./candidate.ts";
import { type Intent, readIntent } from "./intent.ts";
import { type TimeWindow, timeWindows } from "./time-window.ts";

/** Maximum number of terms; more add little and cost time, since a pasted document is not a question. */
const MOST_TERMS = 64;

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
  readonly intent: Intent;
  readonly windows: readonly TimeWindow[];
}

/** Parses a question in the context of its scope. */
export function readQuery(text: string, { statistics, nowMs, speakers }: RankContext): Query {
  const folded = fold(text);
  const named = speakers.map(fold).filter((name) => name !== "" && mentions(folded, name));
  const hidden = new Set(named.flatMap(analyse));
  const all = [...new Set(analyse(text))].filter((term) => !hidden.has(term));
  const rarity = (term: string) => inverseFrequency(statistics.frequencyOf(term), statistics.chunks);
  const terms = all.length > MOST_TERMS ? rarest(all, rarity, MOST_TERMS) : all;
  const names = new Set(
    words(text)
      .slice(1)
      .filter((word) => /^[\p{Lu}\p{N}]/u.test(word) && !/^I(?:'|’|$)/.test(word))
      .flatMap((word) => termsOfWord(word)),
  );
  return {
    terms,
    rarities: terms.map(rarity),
    isName: terms.map((term) => names.has(term)),
    speakers: named,
    intent: readIntent(text),
    windows: timeWindows(text, nowMs),
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

function mentions(text: string, name: string): boolean {
  const at = text.indexOf(name);
  if (at < 0) return false;
  return !/\p{L}/u.test(text[at - 1] ?? " ") && !/\p{L}/u.test(text[at + name.length] ?? " ");
}

function inverseFrequency(frequency: number, documents: number): number {
  return Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5));
}

function rarest(terms: readonly string[], rarity: (term: string) => number, most: number): string[] {
  const chosen = new Set([...terms].sort((a, b) => rarity(b) - rarity(a)).slice(0, most));
  return terms.filter((term) => chosen.has(term));
}
