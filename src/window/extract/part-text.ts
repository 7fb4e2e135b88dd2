import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Json } from "../../model/json.ts";
import type { Message } from "../../model/message.ts";
import type { Part, ToolCallPart } from "../../model/part.ts";
import { findTouches } from "../effects/find-touches.ts";

/** Sources of text in a conversation. */
export const TEXT_ORIGINS = ["read", "result", "edit", "call", "user", "assistant", "reasoning"] as const;

/** The source of a text, which determines how likely it is needed later. */
export type TextOrigin = (typeof TEXT_ORIGINS)[number];

/** The text of a message part, with its source. */
export interface PartText {
  readonly text: string;
  readonly origin: TextOrigin;
  /** The file that the text is about, if the tool call names one. */
  readonly path?: string;
}

/** The name and file of the call that a result answers. */
export interface CallFacts {
  readonly name: string;
  readonly path?: string;
  /** Effect on the file; shell commands have one too. */
  readonly effect?: "read" | "edit";
}

const READS = /^(read|read_?file|view|view_?file|open|cat|readfile)$/i;
const CHANGES = /edit|write|patch|replace/i;

/** The text of a message, part by part. `callOf` finds the call that a result answers. */
export function listPartTexts(
  message: Message,
  callOf: (callId: string) => CallFacts | undefined,
): readonly PartText[] {
  return message.parts.flatMap((part): readonly PartText[] => {
    switch (part.type) {
      case "text":
        return [{ text: part.text, origin: message.role === "assistant" ? "assistant" : "user" }];
      case "reasoning":
        return [{ text: part.text, origin: "reasoning" }];
      case "tool-call": {
        const { path, effect } = getCallFacts(part);
        const origin = effect === "edit" ? "edit" : "call";
        return [{ text: renderInput(part.input), origin, ...dropUndefined({ path }) }];
      }
      case "tool-result": {
        const call = callOf(part.callId);
        const isRead = call?.path !== undefined && call.effect === "read";
        const text = part.output.map(getOutputText).join("\n");
        return [{ text, origin: isRead ? "read" : "result", ...dropUndefined({ path: call?.path }) }];
      }
      default:
        return [];
    }
  });
}

/** The name, file and effect of a call. */
export function getCallFacts(call: ToolCallPart): CallFacts {
  const { name, input } = call;
  const fields =
    input !== null && typeof input === "object" && !Array.isArray(input)
      ? (input as { [key: string]: Json })
      : {};
  const path = fields.file_path ?? fields.filePath ?? fields.path ?? fields.filename ?? fields.notebook_path;
  if (CHANGES.test(name)) return { name, ...(typeof path === "string" && { path }), effect: "edit" };
  if (typeof path === "string") return { name, path, ...(READS.test(name) && { effect: "read" }) };
  const touches = findTouches(call).filter(({ kind }) => kind !== "run");
  const [first] = touches;
  if (first?.path === undefined) return { name };
  const isRead = touches.every(({ kind }) => kind === "read");
  return { name, path: first.path, effect: isRead ? "read" : "edit" };
}

/** The input of a tool call as lines; strings stay unescaped, so that lines they quote can be recognized. */
export function renderInput(input: Json): string {
  if (typeof input === "string") return input;
  if (input === null || typeof input !== "object") return String(input ?? "");
  return Object.entries(input)
    .map(([key, value]) => {
      const text = typeof value === "string" ? value : (JSON.stringify(value, null, 1) ?? "");
      return text.includes("\n") ? `${key}:\n${text}` : `${key}: ${text}`;
    })
    .join("\n");
}

/** The text of one part of a tool's output. */
export function getOutputText(part: Part): string {
  if (part.type === "text") return part.text;
  return part.type === "blob" ? (part.preview ?? "") : "";
}
