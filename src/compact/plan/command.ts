import { checkFields, checkKind } from "../../model/arguments.ts";
import type { MessageInput } from "../../model/message.ts";

/** What a person asks for by `/compact`. */
export interface CompactCommand {
  /** What the summary is to heed, if anything was said behind it. */
  readonly instructions?: string;
}

/** Reads `/compact` or `/compact <instructions>` on a line of its own; undefined for any other text, as a longer document. */
export function readCompactCommand(text: string): CompactCommand | undefined {
  const match = /^\/compact(?:[^\S\r\n]+([^\r\n]*\S))?$/.exec(checkKind("text", text, "text").trim());
  if (!match) return undefined;
  return match[1] === undefined ? {} : { instructions: match[1] };
}

/** The command that a message of the user is: nothing but its line, no attachment and no result beside it. */
export function compactCommandOf(message: MessageInput): CompactCommand | undefined {
  const { role, text, parts = [] } = checkFields("message", message, { text: "text?", parts: "array?" });
  if (role !== "user") return undefined;
  if (text !== undefined) return parts.length === 0 ? readCompactCommand(text) : undefined;
  const [part, ...others] = parts;
  return part?.type === "text" && others.length === 0 ? readCompactCommand(part.text) : undefined;
}
