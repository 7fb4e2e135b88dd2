import type { Json } from "../../index.ts";
import { escapeLine } from "../escape.ts";
import { fitTo } from "../width.ts";

/** Arguments that describe a call best, shown first. */
const TELLING = ["command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url", "description"];
const MOST_COLUMNS = 60;

/** Formats a call on one line: its name and shortened arguments, the most descriptive first. */
export function callLine(name: string, input: Json, columns: number): string {
  const words = isObject(input) ? argumentWords(input) : [shortValue(input)];
  return fitTo([escapeLine(name), ...words].join(" "), columns);
}

function argumentWords(input: { readonly [key: string]: Json }): readonly string[] {
  const rank = (key: string) => (TELLING.includes(key) ? TELLING.indexOf(key) : TELLING.length);
  return Object.entries(input)
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([key, value]) => `${escapeLine(key)}=${shortValue(value)}`);
}

function shortValue(value: Json): string {
  const text = typeof value === "string" && /^[\w./@:~-]+$/.test(value) ? value : JSON.stringify(value);
  return fitTo(escapeLine(text), MOST_COLUMNS);
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
