/** Words that occur in most sentences and carry no topic. */
const COMMON_WORDS = new Set(
  "the and for that this with you are was were have has had not but can will would could should what which who how why when where from your our their them they his her its it's i'm there here then than into about over just like also some any all been being did does done more most other such only very".split(
    " ",
  ),
);
const WORD = /[\p{L}\p{N}_]+/gu;
const HAN = /\p{Script=Han}/u;
const MAX_CHARACTERS = 20_000;

/**
 * Scores how closely each text is related to a question: rare shared words weigh most, and long texts gain little from
 * their length. 0 for a text that shares no word with it.
 */
export function scoreTexts(question: string, texts: readonly string[]): readonly number[] {
  const wanted = new Set(splitTerms(question));
  if (wanted.size === 0) return texts.map(() => 0);
  const found = texts.map((text) => {
    const shared = new Set<string>();
    let count = 0;
    for (const term of splitTerms(text)) {
      count++;
      if (wanted.has(term)) shared.add(term);
    }
    return { shared, count };
  });
  const frequencies = new Map<string, number>();
  for (const { shared } of found)
    for (const term of shared) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  const weightOf = (term: string) => Math.log(1 + texts.length / (frequencies.get(term) ?? 1));
  return found.map(({ shared, count }) => {
    let sum = 0;
    for (const term of shared) sum += weightOf(term);
    return sum / (1 + count) ** 0.25;
  });
}

/** Words in lower case; Chinese, which has no spaces, as pairs of characters. */
function* splitTerms(text: string): Generator<string> {
  for (const [word] of text.slice(0, MAX_CHARACTERS).toLowerCase().matchAll(WORD)) {
    if (HAN.test(word)) {
      for (let at = 0; at + 1 < word.length; at++) yield word.slice(at, at + 2);
    } else if (word.length > 2 && !COMMON_WORDS.has(word)) yield word;
  }
}
