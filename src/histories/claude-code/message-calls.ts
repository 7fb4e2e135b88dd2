import type { Json } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toArray, toObject, toText } from "../../wire/fields.ts";
import { CopyFilter } from "../deduplication/copy-filter.ts";
import { COPY_RULES } from "../deduplication/copy-rules.ts";
import { KnownTexts } from "../deduplication/known-texts.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { getToolResults } from "./claude-code-lines.ts";
import type { KnownContents } from "./known-contents.ts";

const RULES = COPY_RULES["claude-code"];

interface MessageCall {
  /** Id of the line with the call. */
  readonly uuid: string | undefined;
  readonly input: unknown;
}

/** Facts about a line that answers calls. */
interface CallAnswer {
  /** Content of `toolUseResult` that the message does not have. */
  readonly rest?: Json;
  readonly copiedBytes: number;
  /** Id of the line with the call. */
  readonly caller?: string;
}

/** Tool calls of one message. */
export class MessageCalls {
  readonly #calls = new Map<string, MessageCall>();

  constructor(lines: readonly LineRecord[]) {
    for (const { record } of lines) {
      for (const block of toArray(toObject(record.message)?.content)) {
        const { type, id, input } = toObject(block) ?? {};
        if (type === "tool_use" && typeof id === "string")
          this.#calls.set(id, { uuid: toText(record.uuid), input });
      }
    }
  }

  /** Inspects a line that may hold results of these calls; `contents` learns the file contents that it reports. */
  inspectAnswer(record: JsonObject, contents: KnownContents): CallAnswer {
    const results = getToolResults(record);
    const calls = results.flatMap(({ tool_use_id: id }) => this.#calls.get(id as string) ?? []);
    const caller = calls[0]?.uuid === undefined ? {} : { caller: calls[0].uuid };
    if (record.toolUseResult === undefined) return { copiedBytes: 0, ...caller };
    const known = [...results, ...calls.map(({ input }) => input)];
    return { ...removeResultCopies(record.toolUseResult, known, contents), ...caller };
  }
}

/** A tool result without content that the log holds elsewhere. */
interface ToolResultRemainder {
  /** The remaining fields in the shape of the result; undefined if nothing remains. */
  readonly rest?: Json;
  readonly copiedBytes: number;
}

/**
 * Removes copies from `toolUseResult`: of the result that the model saw, of the call's input, or of a file whose
 * content the log holds. `contents` learns the files that the result reports.
 */
function removeResultCopies(
  result: unknown,
  known: readonly unknown[],
  contents: KnownContents,
): ToolResultRemainder {
  const fields = toObject(result);
  const path = toText(fields?.filePath) ?? toText(toObject(fields?.file)?.filePath);
  const change = fields && reconstructFileChange(fields);
  const evidence = new KnownTexts(RULES, {
    searched: known,
    isDerived: (field, value) =>
      typeof value === "string"
        ? path !== undefined && contents.has(path, value)
        : field === "structuredPatch" && change !== undefined && isPatchOfChange(change, value),
  });
  const { value: rest, copied } = new CopyFilter(RULES, evidence).strip(result);
  const content = fields && (change?.after ?? getWholeFile(fields));
  if (path !== undefined && content !== undefined) contents.set(path, content);
  return dropUndefined({ rest, copiedBytes: copied });
}

/** A file before and after a tool changed it. */
interface FileChange {
  readonly before: string;
  readonly after: string;
}

/** Reconstructs the change that an edit or write result reports; undefined if the result is incomplete. */
function reconstructFileChange(result: JsonObject): FileChange | undefined {
  const before = result.originalFile ?? result.originalFileContents;
  if (before !== null && typeof before !== "string") return undefined;
  const edits = Array.isArray(result.edits) ? result.edits : [result];
  if (typeof result.oldString === "string" || Array.isArray(result.edits)) {
    const after = edits.reduce<string | undefined>(applyEdit, before ?? "");
    return after === undefined ? undefined : { before: before ?? "", after };
  }
  return typeof result.content === "string" ? { before: before ?? "", after: result.content } : undefined;
}

function applyEdit(content: string | undefined, edit: unknown): string | undefined {
  const fields = toObject(edit) ?? {};
  const old = fields.oldString ?? fields.old_string;
  const next = fields.newString ?? fields.new_string;
  if (content === undefined || typeof old !== "string" || typeof next !== "string") return undefined;
  if (old === "") return next;
  // Deleting a whole line also removes its line break.
  const target = next === "" && !old.endsWith("\n") && content.includes(`${old}\n`) ? `${old}\n` : old;
  const isAll = (fields.replaceAll ?? fields.replace_all) === true;
  return isAll ? content.replaceAll(target, () => next) : content.replace(target, () => next);
}

/** Tells whether a patch follows completely from the change. */
function isPatchOfChange({ before, after }: FileChange, patch: unknown): boolean {
  return toArray(patch).every((hunk) => {
    const { oldStart, newStart, lines } = toObject(hunk) ?? {};
    const pieces = toArray(lines);
    if (!pieces.every((line) => typeof line === "string")) return false;
    const start = findLineStart(before, oldStart);
    // Before the first change both texts are equal, and so are line offsets.
    const isSame = oldStart === newStart && start >= 0 && after.startsWith(before.slice(0, start));
    const newFrom = isSame ? start : findLineStart(after, newStart);
    return matchesAt(before, start, pieces, "-") && matchesAt(after, newFrom, pieces, "+");
  });
}

/** Tells whether the context lines and the lines with `mark` occur in `text` from `start` on. */
function matchesAt(text: string, start: number, lines: readonly string[], mark: "-" | "+"): boolean {
  let from = start;
  for (const line of lines) {
    if (!line.startsWith(" ") && !line.startsWith(mark)) continue;
    if (from < 0) return false;
    const end = text.indexOf("\n", from);
    if (expandTabs(text.slice(from, end < 0 ? undefined : end)) !== line.slice(1)) return false;
    from = end < 0 ? -1 : end + 1;
  }
  return true;
}

function findLineStart(text: string, number: unknown): number {
  if (typeof number !== "number") return -1;
  let from = 0;
  for (let line = 1; line < number; line++) {
    from = text.indexOf("\n", from) + 1;
    if (from === 0) return -1;
  }
  return from;
}

/** Expands leading tabs as patches show them: two spaces each. */
function expandTabs(line: string): string {
  return line.startsWith("\t") ? line.replace(/^\t+/, (tabs) => "  ".repeat(tabs.length)) : line;
}

/** Returns the content of a file that a read showed completely. */
function getWholeFile(result: JsonObject): string | undefined {
  const file = toObject(result.file);
  const isWhole = file?.startLine === 1 && file.numLines === file.totalLines;
  return isWhole ? toText(file.content) : undefined;
}
