import { arrayOf, objectOf, textOf, timeOf } from "../content/fields.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/**
 * What a line is for the order of the conversation: "assistant" one piece of a model's message; "result" answers of
 * tools; "aside" a message that the tool put in by itself; "prompt" any other message of the user; "boundary" where the
 * window was compacted; "progress" and "other" say nothing to the model.
 */
export type LineKind = "assistant" | "result" | "aside" | "prompt" | "boundary" | "progress" | "other";

/** Tells what a line is. */
export function kindOf(record: JsonObject): LineKind {
  switch (record.type) {
    case "assistant":
      return hasContent(record) ? "assistant" : "other";
    case "user":
      if (!hasContent(record)) return "other";
      if (arrayOf(objectOf(record.message)?.content).some(isResult)) return "result";
      return record.isMeta === true ? "aside" : "prompt";
    case "system":
      return record.subtype === "compact_boundary" ? "boundary" : "other";
    case "progress":
      return objectOf(record.data) ? "progress" : "other";
    default:
      return "other";
  }
}

function hasContent(record: JsonObject): boolean {
  const content = objectOf(record.message)?.content;
  return typeof content === "string" || Array.isArray(content);
}

/** The tool results that a line carries. */
export function resultsOf(record: JsonObject): readonly JsonObject[] {
  const content = arrayOf(objectOf(record.message)?.content);
  return content.filter(isResult) as readonly JsonObject[];
}

function isResult(block: unknown): boolean {
  return objectOf(block)?.type === "tool_result";
}

/** When a line was written, as far as it says. */
export function timeOfLine(record: JsonObject): number | undefined {
  return timeOf(record.timestamp) ?? timeOf(objectOf(record.snapshot)?.timestamp);
}

/** The id that the provider gave a message; the lines of one message share it. */
export function messageIdOf(record: JsonObject): string | undefined {
  return textOf(objectOf(record.message)?.id);
}

/** The id of a line that is a record of its own: its uuid, or where it stands. */
export function recordIdOf({ record, line }: LineRecord): string {
  return textOf(record.uuid) ?? `L${line}`;
}
