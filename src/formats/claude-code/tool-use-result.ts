import type { Json } from "../../index.ts";
import { objectOf, textOf } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { Evidence } from "./evidence.ts";
import { type FileChange, fileChangeOf, followsFrom, wholeFileOf } from "./file-changes.ts";
import type { KnownContents } from "./known-contents.ts";

/** A tool result without content that the log holds elsewhere. */
export interface Remainder {
  /** The remaining fields in the shape of the result; undefined if nothing remains. */
  readonly left?: Json;
  readonly copiedBytes: number;
}

/**
 * Removes copies from `toolUseResult`: of the result that the model saw, of the call's input, or of a file whose
 * content the log holds. `contents` learns the files that the result reports.
 */
export function remainderOf(result: unknown, known: readonly unknown[], contents: KnownContents): Remainder {
  const fields = objectOf(result);
  const path = textOf(fields?.filePath) ?? textOf(objectOf(fields?.file)?.filePath);
  const evidence = new Evidence(known, (text) => path !== undefined && contents.has(path, text));
  const change = fields && fileChangeOf(fields);
  const counter = { copied: 0 };
  const left = withoutCopies(result, "", { evidence, change, counter, depth: 0 });
  const content = fields && (change?.after ?? wholeFileOf(fields));
  if (path !== undefined && content !== undefined) contents.set(path, content);
  return { ...(left !== undefined && { left }), copiedBytes: counter.copied };
}

/** Deeper values are kept unchanged. */
const MAX_DEPTH = 64;

interface Search {
  readonly evidence: Evidence;
  readonly change: FileChange | undefined;
  readonly counter: { copied: number };
  readonly depth: number;
}

/** Returns the value without copies and empty values; undefined if nothing remains. */
function withoutCopies(value: unknown, field: string, search: Search): Json | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "object") {
    if (search.depth === MAX_DEPTH) return value as Json;
    const deeper = { ...search, depth: search.depth + 1 };
    return Array.isArray(value)
      ? listWithoutCopies(value, field, deeper)
      : objectWithoutCopies(value as JsonObject, deeper);
  }
  if (!search.evidence.holds(field, value)) return value as Json;
  search.counter.copied += String(value).length;
  return undefined;
}

function objectWithoutCopies(value: JsonObject, search: Search): Json | undefined {
  const left = Object.entries(value).flatMap(([key, one]) => {
    const rest = withoutCopies(one, key, search);
    return rest === undefined ? [] : [[key, rest] as const];
  });
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}

function listWithoutCopies(list: readonly unknown[], field: string, search: Search): Json | undefined {
  const { change, counter, evidence } = search;
  const isCopy =
    list.length > 0 &&
    (list.every((one) => typeof one === "string")
      ? evidence.holdsLines(list)
      : field === "structuredPatch" && change !== undefined && followsFrom(change, list));
  if (isCopy) {
    counter.copied += JSON.stringify(list).length;
    return undefined;
  }
  const left = list.map((one) => withoutCopies(one, field, search) ?? null);
  // A removed copy leaves null, so the other elements keep their positions.
  const end = left.findLastIndex((one) => one !== null);
  return end < 0 ? undefined : left.slice(0, end + 1);
}
