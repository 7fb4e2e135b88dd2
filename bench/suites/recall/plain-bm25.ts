/** The baseline: Okapi BM25 over whole texts, k1 1.2, b 0.75, with plural and past endings removed. */
export function createPlainRanker(texts: readonly string[]): (question: string) => Float64Array {
  const postings = new Map<string, Map<number, number>>();
  const lengths = texts.map((text, index) => {
    const terms = lightTerms(text);
    for (const term of terms) {
      const list = postings.get(term) ?? new Map<number, number>();
      list.set(index, (list.get(index) ?? 0) + 1);
      postings.set(term, list);
    }
    return terms.length;
  });
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, texts.length);
  return (question) => {
    const scores = new Float64Array(texts.length);
    for (const term of new Set(lightTerms(question))) {
      const list = postings.get(term);
      if (!list) continue;
      const rarity = Math.log(1 + (texts.length - list.size + 0.5) / (list.size + 0.5));
      for (const [index, count] of list) {
        const length = (lengths[index] as number) / average;
        scores[index] =
          (scores[index] as number) + (rarity * count * 2.2) / (count + 1.2 * (0.25 + 0.75 * length));
      }
    }
    return scores;
  };
}

const COMMON = new Set(
  "a an and are as at be but by for from had has have he her his i in is it its me my of on or our she so that the their them they this to was we were what when where which who will with you your did do does how".split(
    " ",
  ),
);

function lightTerms(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((word) => !COMMON.has(word))
    .map((word) => (word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, "") : word));
}
