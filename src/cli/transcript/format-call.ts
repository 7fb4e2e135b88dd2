import type { Json } from "../../index.ts";
import { escapeLine } from "../escape.ts";
import { fitText } from "../width.ts";

/** Arguments that describe a call best, shown first. */
const DESCRIPTIVE_ARGUMENTS = [
  "command",
  "cmd",
  "file_path",
  "filePath",
  "path",
  "pattern",
  "query",
  "url",
  "description",
];
const MAX_VALUE_COLUMNS = 60;

/** Formats a call on one line: its name and shortened arguments, the most descriptive first. */
export function formatCall(name: string, input: Json, columns: number): string {
  const words = isObject(input) ? formatArguments(input) : [formatShortValue(input)];
  return fitText([escapeLine(name), ...words].join(" "), columns);
}

function formatArguments(input: { readonly [key: string]: Json }): readonly string[] {
  const rank = (key: string) =>
    DESCRIPTIVE_ARGUMENTS.includes(key) ? DESCRIPTIVE_ARGUMENTS.indexOf(key) : DESCRIPTIVE_ARGUMENTS.length;
  return Object.entries(input)
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([key, value]) => `${escapeLine(key)}=${formatShortValue(value)}`);
}

function formatShortValue(value: Json): string {
  const text = typeof value === "string" && /^[\w./@:~-]+$/.test(value) ? value : JSON.stringify(value);
  return fitText(escapeLine(text), MAX_VALUE_COLUMNS);
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
