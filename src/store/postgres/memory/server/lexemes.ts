import { computeWorth, encodeWeight } from "../../../postings.ts";

/** The labels of lexemes from the smallest weight to the largest, their bounds, and their values. */
const LABELS = ["D", "C", "B", "A"] as const;
const BOUNDS = [0.7, 1.05, 1.45] as const;
const VALUES = [0.5, 0.87, 1.22, 1.8] as const;
/** The values in the order and the range of `ts_rank`. */
export const LABEL_WORTH: readonly number[] = VALUES.map((value) => value / VALUES[3]);

/** The terms of a chunk as the text of a tsvector: each once, with a label for its count and the chunk's length. */
export function buildLexemes(terms: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const term of terms) if (term !== "") counts.set(term, (counts.get(term) ?? 0) + 1);
  return [...counts]
    .map(([term, count]) => `${quoteLexeme(term)}:1${labelOf(count, terms.length)}`)
    .join(" ");
}

/** A lexeme within a tsvector or a tsquery. */
export function quoteLexeme(term: string): string {
  return `'${term.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

/** A query for chunks that contain all terms of one of the combinations. */
export function buildLexemeQuery(combinations: readonly (readonly { readonly term: string }[])[]): string {
  return combinations
    .map((terms) => `(${terms.map(({ term }) => quoteLexeme(term)).join(" & ")})`)
    .join(" | ");
}

function labelOf(occurrences: number, length: number): string {
  const worth = computeWorth(encodeWeight(occurrences, length));
  const level = BOUNDS.findIndex((bound) => worth < bound);
  return LABELS[level < 0 ? LABELS.length - 1 : level] as string;
}
