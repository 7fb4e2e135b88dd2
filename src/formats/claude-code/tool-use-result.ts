import type { Json } from "../../index.ts";
import { toObject, toText } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { CopyFilter } from "../copies/known-texts.ts";
import { type FileChange, getWholeFile, isPatchOfChange, reconstructFileChange } from "./file-changes.ts";
import type { KnownContents } from "./known-contents.ts";

/** A tool result without content that the log holds elsewhere. */
export interface ToolResultRemainder {
  /** The remaining fields in the shape of the result; undefined if nothing remains. */
  readonly rest?: Json;
  readonly copiedBytes: number;
}

/**
 * Removes copies from `toolUseResult`: of the result that the model saw, of the call's input, or of a file whose
 * content the log holds. `contents` learns the files that the result reports.
 */
export function removeResultCopies(
  result: unknown,
  known: readonly unknown[],
  contents: KnownContents,
): ToolResultRemainder {
  const fields = toObject(result);
  const path = toText(fields?.filePath) ?? toText(toObject(fields?.file)?.filePath);
  const evidence = new CopyFilter(known, (text) => path !== undefined && contents.has(path, text));
  const change = fields && reconstructFileChange(fields);
  const counter = { copied: 0 };
  const left = removeValueCopies(result, "", { evidence, change, counter, depth: 0 });
  const content = fields && (change?.after ?? getWholeFile(fields));
  if (path !== undefined && content !== undefined) contents.set(path, content);
  return { ...(left !== undefined && { rest: left }), copiedBytes: counter.copied };
}

/** Deeper values are kept unchanged. */
const MAX_DEPTH = 64;

interface CopySearch {
  readonly evidence: CopyFilter;
  readonly change: FileChange | undefined;
  readonly counter: { copied: number };
  readonly depth: number;
}

/** Returns the value without copies and empty values; undefined if nothing remains. */
function removeValueCopies(value: unknown, field: string, search: CopySearch): Json | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "object") {
    if (search.depth === MAX_DEPTH) return value as Json;
    const deeper = { ...search, depth: search.depth + 1 };
    return Array.isArray(value)
      ? removeListCopies(value, field, deeper)
      : removeObjectCopies(value as JsonObject, deeper);
  }
  if (!search.evidence.hasValue(field, value)) return value as Json;
  search.counter.copied += String(value).length;
  return undefined;
}

function removeObjectCopies(value: JsonObject, search: CopySearch): Json | undefined {
  const left = Object.entries(value).flatMap(([key, one]) => {
    const rest = removeValueCopies(one, key, search);
    return rest === undefined ? [] : [[key, rest] as const];
  });
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}

function removeListCopies(list: readonly unknown[], field: string, search: CopySearch): Json | undefined {
  const { change, counter, evidence } = search;
  const isCopy =
    list.length > 0 &&
    (list.every((one) => typeof one === "string")
      ? evidence.hasLines(list)
      : field === "structuredPatch" && change !== undefined && isPatchOfChange(change, list));
  if (isCopy) {
    counter.copied += JSON.stringify(list).length;
    return undefined;
  }
  const left = list.map((one) => removeValueCopies(one, field, search) ?? null);
  // A removed copy leaves null, so the other elements keep their positions.
  const end = left.findLastIndex((one) => one !== null);
  return end < 0 ? undefined : left.slice(0, end + 1);
}
