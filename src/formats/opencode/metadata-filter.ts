import { toArray, toObject } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Shorter strings are kept even if they repeat something. */
const MIN_LENGTH = 16;
const MIN_LENGTH_IN_OUTPUT = 64;
const MIN_LINE_LENGTH_IN_OUTPUT = 256;
/** Prefix of each line in the output of the read tool. */
const LINE_NUMBER = /^(?:<(?:content|file)>)?[ \t]*\d+[:|] ?/gm;

/**
 * Creates a predicate for strings in a tool's metadata that repeat its input, its output or each other: opencode stores
 * the output again for display, cut off or without line numbers.
 */
export function createCopyFinder(state: JsonObject): (text: string, field: string) => boolean {
  const output = typeof state.output === "string" ? state.output : "";
  const said = new Set([...Object.values(toObject(state.input) ?? {}), state.title]);
  const diffs = toArray(toObject(state.metadata)?.files).map((file) => toObject(file)?.diff);
  const allDiffs = diffs.length > 0 && diffs.map((diff) => `${diff}\n`).join("");
  let unnumbered: string | undefined;
  return (text, field) => {
    if (text.length < MIN_LENGTH) return false;
    if (said.has(text) || (field === "diff" && text === allDiffs)) return true;
    // A single line, such as a file path, may occur in the output and still be meaningful on its own.
    if (text.length < (text.includes("\n") ? MIN_LENGTH_IN_OUTPUT : MIN_LINE_LENGTH_IN_OUTPUT)) return false;
    if (output.includes(text)) return true;
    if (text.endsWith("\n\n...") && output.startsWith(text.slice(0, -"\n\n...".length))) return true;
    unnumbered ??= output.replace(LINE_NUMBER, "");
    return unnumbered.includes(text);
  };
}
