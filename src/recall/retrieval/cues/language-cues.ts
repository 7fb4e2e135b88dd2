/** Phrases by which people refer to earlier events in one language. */
export interface LanguageCues {
  /** Phrases that refer to something said, read or done together. */
  readonly together: readonly RegExp[];
  /** Phrases for a past time: they count in a question, or if both sides are mentioned. */
  readonly past: readonly RegExp[];
  readonly bothSides: RegExp;
  /** Questions about the asker that only earlier messages can answer. */
  readonly ownFact?: RegExp;
  /** Requests for advice, which resemble such questions. */
  readonly advice?: RegExp;
  /** Phrases that refer to files and code without naming them. */
  readonly code: readonly RegExp[];
}
