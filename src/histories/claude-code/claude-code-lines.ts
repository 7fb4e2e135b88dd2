import { toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/**
 * Role of a line in the conversation. "assistant": one piece of an assistant message; "result": tool results; "aside":
 * a message that Claude Code inserted itself; "prompt": any other user message; "boundary": a compaction of the window;
 * "progress" and "other": lines that the model never sees.
 */
export type LineKind = "assistant" | "result" | "aside" | "prompt" | "boundary" | "progress" | "other";

export function getLineKind(record: JsonObject): LineKind {
  switch (record.type) {
    case "assistant":
      return hasContent(record) ? "assistant" : "other";
    case "user":
      if (!hasContent(record)) return "other";
      if (toArray(toObject(record.message)?.content).some(isResult)) return "result";
      return record.isMeta === true ? "aside" : "prompt";
    case "system":
      return record.subtype === "compact_boundary" ? "boundary" : "other";
    case "progress":
      return toObject(record.data) ? "progress" : "other";
    default:
      return "other";
  }
}

function hasContent(record: JsonObject): boolean {
  const content = toObject(record.message)?.content;
  return typeof content === "string" || Array.isArray(content);
}

/** Returns the tool results in a line. */
export function getToolResults(record: JsonObject): readonly JsonObject[] {
  const content = toArray(toObject(record.message)?.content);
  return content.filter(isResult) as readonly JsonObject[];
}

function isResult(block: unknown): boolean {
  return toObject(block)?.type === "tool_result";
}

/** Returns the time of a line, if it has one. */
export function getLineTime(record: JsonObject): number | undefined {
  return toTime(record.timestamp) ?? toTime(toObject(record.snapshot)?.timestamp);
}

/** Returns the provider's id of a message; the lines of one message share it. */
export function getMessageId(record: JsonObject): string | undefined {
  return toText(toObject(record.message)?.id);
}

/** Returns the record id of a line: its uuid, or its line number. */
export function getRecordId({ record, line }: LineRecord): string {
  return toText(record.uuid) ?? `L${line}`;
}
