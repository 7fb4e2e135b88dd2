const COMMON_WORDS = new Set(
  "the and for with that this from about keep focus summary summarize please make sure what when where which into only also have been will your you our all any not but its".split(
    " ",
  ),
);
const MAX_TERMS = 24;
let segmenter: Intl.Segmenter | undefined;

/** The search terms in an instruction, in any language that can be segmented. */
export function extractTerms(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  const terms = new Set<string>(text.match(/[\w$@~.+-]*[_./$@\d][\w$@~.+/-]*\w/g) ?? []);
  for (const { segment, isWordLike } of segmenter.segment(text.slice(0, 2_000))) {
    const least = /[\u2e80-\uffff]/.test(segment) ? 2 : 3;
    if (isWordLike && segment.length >= least && !COMMON_WORDS.has(segment.toLowerCase())) terms.add(segment);
  }
  return [...terms].slice(0, MAX_TERMS);
}
