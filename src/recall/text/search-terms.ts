import { analyzeText } from "./analyze-text.ts";

/** Maximum number of terms in a search; a pasted document has more, which would add nothing. */
const MAX_TERMS = 96;

/** Distinct terms; if there are too many, only the most frequent ones. */
export function listSearchTerms(question: string): string[] {
  const counts = new Map<string, number>();
  for (const term of analyzeText(question)) counts.set(term, (counts.get(term) ?? 0) + 1);
  const terms = [...counts.keys()];
  if (terms.length <= MAX_TERMS) return terms;
  return terms.sort((left, right) => (counts.get(right) ?? 0) - (counts.get(left) ?? 0)).slice(0, MAX_TERMS);
}
