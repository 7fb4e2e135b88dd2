import { analyzeText } from "../../../src/recall/text/analyze-text.ts";
import { estimateText } from "../../../src/window/tokens/estimate-text.ts";
import type { Item } from "./question.ts";

/** A returned text with its time. */
export interface DatedText {
  readonly text: string;
  readonly atMs: number | null;
}

/** Tokens that a reader of the results is given. */
const MAX_TOKENS = 2_000;
const SMALL_NUMBERS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );
const NUMBER_WORD = new RegExp(`\\b(?:${SMALL_NUMBERS.join("|")})\\b`, "gi");

/**
 * The units of an answer or a text: its content words, with numbers as digits ("twelve", "12,000") and dates as their
 * day, month and year. Words of no content have none.
 */
export function listUnits(text: string): readonly string[] {
  const normalized = text
    .replace(/(?<=\d),(?=\d{3})/g, "")
    .replace(/(?<=\d)(?:st|nd|rd|th)\b/gi, "")
    .replace(/\b(\d{4})-(\d\d)-(\d\d)\b/g, (_, year, month, day) =>
      formatDate(Date.UTC(Number(year), Number(month) - 1, Number(day))),
    )
    .replace(NUMBER_WORD, (word) => String(SMALL_NUMBERS.indexOf(word.toLowerCase())));
  return [...new Set(analyzeText(normalized))];
}

/** Whether texts contain every unit of an answer; the time of a text counts as if it were written there. */
export function hasAnswer(answer: string, texts: readonly DatedText[]): boolean {
  const wanted = listUnits(answer);
  const found = new Set(
    texts.flatMap(({ text, atMs }) => listUnits(atMs === null ? text : `${formatDate(atMs)} ${text}`)),
  );
  return wanted.length > 0 && wanted.every((unit) => found.has(unit));
}

/** The first texts that fit into the tokens; the last one is cut. */
export function packTexts(texts: Iterable<DatedText>, maxTokens = MAX_TOKENS): DatedText[] {
  const packed: DatedText[] = [];
  let left = maxTokens;
  for (const { text, atMs } of texts) {
    const tokens = estimateText(text);
    const fits = tokens <= left;
    packed.push({ text: fits ? text : text.slice(0, Math.floor((text.length * left) / tokens)), atMs });
    left -= tokens;
    if (left <= 0) break;
  }
  return packed;
}

/** Whether the turns that answer a question state its answer; computed answers, such as sums, stand nowhere. */
export function isStated(answer: string | null, items: readonly Item[], gold: readonly number[]): boolean {
  return (
    answer !== null &&
    hasAnswer(
      answer,
      gold.flatMap((place) => items[place] ?? []),
    )
  );
}

function formatDate(atMs: number): string {
  const date = new Date(atMs);
  const month = date.toLocaleString("en-US", { month: "long", timeZone: "UTC" });
  return `${date.getUTCDate()} ${month} ${date.getUTCFullYear()}`;
}
