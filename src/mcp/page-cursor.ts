import { computeDigest } from "../base/digest.ts";

const DIGITS = 8;

/** A cursor: the number of results already shown, and a mark of the question that it belongs to. */
export function formatPageCursor(shown: number, question: string): string {
  return `${shown}-${computeDigest(question, DIGITS)}`;
}

/** The number of results to pass over; undefined if the cursor belongs to another question. */
export function parsePageCursor(cursor: string | undefined, question: string): number | undefined {
  if (cursor === undefined) return 0;
  const [, shown = "", mark] = /^(\d{1,6})-([0-9a-f]+)$/.exec(cursor.trim()) ?? [];
  return mark === computeDigest(question, DIGITS) ? Number(shown) : undefined;
}
