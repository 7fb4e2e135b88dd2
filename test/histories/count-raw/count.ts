/** Counts of a file's content. */
export interface Count {
  readonly messages: number;
  readonly toolCalls: number;
  readonly images: number;
}

/** A file's count by the yardstick's rule, and the content that the yardstick omits. */
export interface FileCount extends Count {
  readonly besides: Count;
}

/** The zero count. */
export const NOTHING: Count = { messages: 0, toolCalls: 0, images: 0 };

/** Foreign JSON, accessed without checks: missing fields are undefined. */
// biome-ignore lint/suspicious/noExplicitAny: type checks would make the counters too complex to be trusted.
export type Foreign = any;

/** The objects of a JSONL text; other lines are skipped. */
export function linesOf(text: string): Foreign[] {
  return text.split("\n").flatMap((line) => {
    try {
      const value = JSON.parse(line.replace(/^\uFEFF/, ""));
      return value !== null && typeof value === "object" && !Array.isArray(value) ? [value] : [];
    } catch {
      return [];
    }
  });
}

/** The value if it is a list, else an empty list. */
export function listOf(value: unknown): Foreign[] {
  return Array.isArray(value) ? value : [];
}

/** Number of elements that satisfy a test. */
export function countOf(list: Foreign[], test: (element: Foreign, index: number) => unknown): number {
  return list.filter(test).length;
}

/** Number of distinct values. */
export function distinct(values: unknown[]): number {
  return new Set(values).size;
}
