import type { Json } from "../../index.ts";
import { toObject, toText } from "../../wire/fields.ts";
import { CopyFilter } from "../copies/copy-filter.ts";
import { COPY_RULES } from "../copies/copy-rules.ts";
import { KnownTexts } from "../copies/known-texts.ts";
import { getWholeFile, isPatchOfChange, reconstructFileChange } from "./file-changes.ts";
import type { KnownContents } from "./known-contents.ts";

const RULES = COPY_RULES["claude-code"];

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
export function removeResultCopies(
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
  return { ...(rest !== undefined && { rest }), copiedBytes: copied };
}
