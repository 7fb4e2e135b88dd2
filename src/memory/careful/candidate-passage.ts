/** The parts of a candidate that a reader sees. */
export interface CandidateExcerpt {
  /** The speaker's name, or the role of the author. */
  readonly author: string;
  /** The whole text that contains the chunk, and the chunk's range. */
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** The turn before, which often holds the name of the thing that this one only calls "it". */
  readonly before: { readonly author: string; readonly text: string } | undefined;
}

const MAX_PASSAGE_CHARACTERS = 600;
const MAX_BEFORE_CHARACTERS = 250;

/** The chunk with the text around it, after its author, then the end of the turn before. */
export function buildCandidatePassage({ author, text, from, to, before }: CandidateExcerpt): string {
  const room = Math.max(0, MAX_PASSAGE_CHARACTERS - (to - from));
  const atLeastAfter = Math.min(Math.floor(room / 2), text.length - to);
  const ahead = Math.min(room - atLeastAfter, from);
  const after = Math.min(room - ahead, text.length - to);
  const own = `${author}: ${text.slice(from - ahead, to + after)}`;
  return before ? `${own} | ${before.author}: ${before.text.slice(-MAX_BEFORE_CHARACTERS)}` : own;
}
