import type { Json } from "../../model/json.ts";
import type { LineRange } from "./line-range.ts";

/** Named arguments of a tool call. */
export type CallArguments = { readonly [name: string]: Json };

const PATHS = [
  "path",
  "file_path",
  "filePath",
  "absolutePath",
  "absolute_path",
  "notebook_path",
  "target_file",
  "filename",
  "file",
];
const CONTENTS = ["content", "contents", "file_text", "text"];
const FOLDERS = ["workdir", "cwd", "dir_path", "directory"];

/** The named arguments in a tool call's input; some agents pass them as JSON text. */
export function parseToolArguments(input: Json | undefined): CallArguments | undefined {
  if (typeof input === "string" && input.startsWith("{")) {
    try {
      return parseToolArguments(JSON.parse(input) as Json);
    } catch {
      return undefined;
    }
  }
  return typeof input === "object" && input !== null && !Array.isArray(input)
    ? (input as CallArguments)
    : undefined;
}

export function getPathArgument(from: CallArguments): string | undefined {
  return findFirstText(from, PATHS);
}

/** Name of the argument with the whole contents of a file to write. */
export function getContentsName(from: CallArguments): string | undefined {
  return CONTENTS.find((name) => Object.hasOwn(from, name) && typeof from[name] === "string");
}

/** The working directory of a command. */
export function getFolderArgument(from: CallArguments): string | undefined {
  return findFirstText(from, FOLDERS);
}

/** The requested lines; undefined for the whole file. */
export function getRangeArgument(from: CallArguments): LineRange | undefined {
  if (Array.isArray(from.view_range)) return buildLineRange(from.view_range[0], from.view_range[1]);
  const start = from.start_line ?? from.startLine;
  const end = from.end_line ?? from.endLine;
  if (isNumber(start) || isNumber(end)) return buildLineRange(start, end);
  const { offset, limit } = from;
  if (!isNumber(offset) && !isNumber(limit)) return undefined;
  const first = isNumber(offset) ? Math.max(1, offset) : 1;
  if (isNumber(limit)) return { from: first, to: first + limit - 1 };
  return first === 1 ? undefined : { from: first, to: Number.POSITIVE_INFINITY };
}

/** Lines between two numbers, either of which may be missing; an end of -1 is the end of the file. */
export function buildLineRange(start: Json | undefined, end: Json | undefined): LineRange | undefined {
  const from = isNumber(start) ? Math.max(1, start) : 1;
  const to = isNumber(end) && end >= 0 ? end : Number.POSITIVE_INFINITY;
  return from === 1 && to === Number.POSITIVE_INFINITY ? undefined : { from, to };
}

function findFirstText(from: CallArguments, names: readonly string[]): string | undefined {
  const name = names.find((name) => Object.hasOwn(from, name) && typeof from[name] === "string");
  const text = name === undefined ? undefined : (from[name] as string);
  return text === "" ? undefined : text;
}

function isNumber(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
