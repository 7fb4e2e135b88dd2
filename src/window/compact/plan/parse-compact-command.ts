import { checkFields, checkKind } from "../../../model/argument-checks.ts";
import type { MessageInput } from "../../../model/message.ts";

/** A parsed `/compact` command. */
export interface CompactCommand {
  /** The text after the command, if any: wishes for the summary. */
  readonly instructions?: string;
}

/** Parses `/compact` or `/compact <instructions>` on a single line; undefined for any other text. */
export function parseCompactCommand(text: string): CompactCommand | undefined {
  const match = /^\/compact(?:[^\S\r\n]+([^\r\n]*\S))?$/.exec(checkKind("text", text, "text").trim());
  if (!match) return undefined;
  return match[1] === undefined ? {} : { instructions: match[1] };
}

/** The command in a user message that consists of nothing but the command: no attachments, no tool results. */
export function findCompactCommand(message: MessageInput): CompactCommand | undefined {
  const { role, text, parts = [] } = checkFields("message", message, { text: "text?", parts: "array?" });
  if (role !== "user") return undefined;
  if (text !== undefined) return parts.length === 0 ? parseCompactCommand(text) : undefined;
  const [part, ...others] = parts;
  return part?.type === "text" && others.length === 0 ? parseCompactCommand(part.text) : undefined;
}
