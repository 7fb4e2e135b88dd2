import { analyzeText } from "../../../src/recall/text/analyze-text.ts";

/** Two related texts of the held-out file. */
export interface HeldOutPair {
  readonly a: string;
  readonly b: string;
}

/** The rank (from 0) of each pair's own text among all distinct texts, by score. */
export function placesOf(
  pairs: readonly HeldOutPair[],
  scorer: (texts: readonly string[]) => (question: string) => ArrayLike<number>,
): number[] {
  const texts = [...new Set(pairs.map(({ b }) => b))];
  const numberOf = new Map(texts.map((text, number) => [text, number]));
  const scoresOf = scorer(texts);
  return pairs.map(({ a, b }) => {
    const scores = scoresOf(a);
    const own = scores[numberOf.get(b) as number] as number;
    let better = 0;
    for (let text = 0; text < scores.length; text++) if ((scores[text] as number) > own) better++;
    return own > Number.NEGATIVE_INFINITY ? better : texts.length;
  });
}

/** Plain BM25 with the product's own text analysis; texts without a common word are not found. */
export function textSearch(texts: readonly string[]): (question: string) => Float64Array {
  const postings = new Map<string, Map<number, number>>();
  const lengths = texts.map((text, number) => {
    const terms = analyzeText(text);
    for (const term of terms) {
      const list = postings.get(term) ?? new Map<number, number>();
      list.set(number, (list.get(number) ?? 0) + 1);
      postings.set(term, list);
    }
    return terms.length;
  });
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  return (question) => {
    const scores = new Float64Array(texts.length).fill(Number.NEGATIVE_INFINITY);
    for (const term of new Set(analyzeText(question))) {
      const list = postings.get(term);
      if (list === undefined) continue;
      const information = Math.log(1 + (texts.length - list.size + 0.5) / (list.size + 0.5));
      for (const [number, count] of list) {
        const share = (count * 2.2) / (count + 1.2 * (0.25 + (0.75 * (lengths[number] as number)) / mean));
        scores[number] = Math.max(0, scores[number] as number) + information * share;
      }
    }
    return scores;
  };
}
