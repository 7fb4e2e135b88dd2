/** How people point back in one language. */
export interface LanguageCues {
  /** Words by which people point to something that was said, read or done together. */
  readonly together: readonly RegExp[];
  /** Words for a time gone by: they point back in a question, or where both sides are named. */
  readonly past: readonly RegExp[];
  readonly bothSides: RegExp;
  /** Questions about the asker, which only what was said before can answer. */
  readonly ownFact?: RegExp;
  /** Requests for advice, which look like them. */
  readonly advice?: RegExp;
  /** Words by which people point to files and code without naming them. */
  readonly code: readonly RegExp[];
}
