import type { FileFacts } from "../reading/folder.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";

/** Layout of a file: one JSON value, or one per line. */
type FileLayout = "whole" | "lines";

/** The beginning of a file. */
export interface FileHead {
  readonly layout: FileLayout;
  /** The root, or the values of the first lines. */
  readonly values: readonly unknown[];
  /** True if the last value, or the last one inside it, may be truncated. */
  readonly isCut: boolean;
}

const MAX_LINES = 20;

/** Tells by its name whether a file may hold JSON. */
export function isJsonName(name: string): boolean {
  return /\.(json|jsonl|ndjson)$/i.test(name);
}

/** Parses the layout and first values of a file; undefined if it is not JSON. */
export function parseFileHead(text: string, { name }: Pick<FileFacts, "name">): FileHead | undefined {
  const begin = text.trimStart()[0];
  if (begin !== "[" && begin !== "{") return undefined;
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const isNamedLines = /\.(jsonl|ndjson)$/i.test(name);
  const isLines = isNamedLines || (lines.length > 1 && isJson(lines[0]) && /^\s*\{/.test(lines[1] ?? ""));
  const texts = isLines ? lines.slice(0, MAX_LINES) : [text];
  const values = texts.map(parseCutJson);
  if (values[0] === undefined) return undefined;
  return { layout: isLines ? "lines" : "whole", values, isCut: !isJson(texts.at(-1)) };
}

function isJson(text: string | undefined): boolean {
  try {
    JSON.parse(text ?? "");
    return true;
  } catch {
    return false;
  }
}
