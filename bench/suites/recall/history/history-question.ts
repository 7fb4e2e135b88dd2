/** A question about an agent's work that the history answers itself: the stretch of a session in which it was done. */
export interface HistoryQuestion {
  readonly kind: HistoryKind;
  readonly text: string;
  /** The root session; those of its sub-agents begin with its id. */
  readonly session: string;
  /** The answer: entries after `fromMs`, up to `toMs`. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Texts that a quotation of the question has together; default: the question. */
  readonly quoted?: readonly string[];
}

/**
 * Kinds of self-labelled questions: the subject of a commit, an item of a plan, a line of a closing report, a failed
 * test.
 */
export type HistoryKind = "commits" | "plans" | "reports" | "repairs";

/** Recognizes texts that quote a question. */
export function buildQuoteTest({
  text,
  quoted = [text],
}: Pick<HistoryQuestion, "text" | "quoted">): (text: string) => boolean {
  const keys = quoted.map(normalizeText);
  return (found) => {
    const normal = normalizeText(found);
    return keys.every((key) => normal.includes(key));
  };
}

/** Letters and digits only, so that quotations are recognized. */
export function normalizeText(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, " ")
    .trim();
}

/** The root of a session's id: `agent/id` of `agent/id/sub-agent`. */
export function rootOf(session: string): string {
  return session.split("/").slice(0, 2).join("/");
}
