import { z } from "zod";
import { computeDigest } from "../../model/base/digest.ts";

/** The reply of every tool: text for a model, with the cursor of the next page where there is one. */
export const textOutput = z.object({ text: z.string() });
export const pageOutput = z.object({ text: z.string(), next: z.string().optional() });

export const whereSchema = z.enum(["project", "everywhere"]).optional();
export const cursorSchema = z.string().max(100).optional();
export const sessionNameSchema = z.string().min(1).max(1_000);

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
