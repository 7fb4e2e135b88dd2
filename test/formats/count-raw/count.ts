/** How much of what a file holds. */
export interface Count {
  readonly messages: number;
  readonly toolCalls: number;
  readonly images: number;
}

/** A file's count by the yardstick's rule, and what it holds besides that the yardstick leaves out. */
export interface FileCount extends Count {
  readonly besides: Count;
}

/** Nothing at all. */
export const NOTHING: Count = { messages: 0, toolCalls: 0, images: 0 };

/** Foreign JSON: looked into freely, for whatever is not there is undefined. */
// biome-ignore lint/suspicious/noExplicitAny: a counter that checked types would no longer be simple enough to be trusted.
export type Foreign = any;

/** The objects of a JSONL text; lines that are none are passed over. */
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

/** The value as a list: itself if it is one, else empty. */
export function listOf(value: unknown): Foreign[] {
  return Array.isArray(value) ? value : [];
}

/** How many elements a test holds for. */
export function countOf(list: Foreign[], test: (element: Foreign, index: number) => unknown): number {
  return list.filter(test).length;
}

/** How many different values there are. */
export function distinct(values: unknown[]): number {
  return new Set(values).size;
}
