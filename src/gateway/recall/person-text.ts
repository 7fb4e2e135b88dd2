import type { MessageInput } from "../../index.ts";
import { ADDED_TAGS, buildTagPattern } from "../../model/message-tags.ts";
import { removeElements } from "../../model/remove-elements.ts";

/** Elements that agents add to user messages: reminders, editor state, machine state. */
const ADDED_ELEMENTS = new RegExp(`<(${buildTagPattern(ADDED_TAGS, "question")})(?![\\w-])[^<>]*>`, "gi");
const COMMAND = /^\s*\/context\s/;

/**
 * The text that a person wrote in a message, without the agent's additions; undefined if nothing is left, or if the
 * message has tool results. A part that begins with "/context" replaces the whole text.
 */
export function findPersonText({ role, text, parts = [] }: MessageInput): string | undefined {
  if (role !== "user" || parts.some(({ type }) => type === "tool-result")) return undefined;
  const texts = [
    ...(text === undefined ? [] : [text]),
    ...parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
  ];
  const own = texts.map((one) => removeElements(one, ADDED_ELEMENTS, " ").trim()).filter((one) => one !== "");
  return own.find((one) => COMMAND.test(one)) ?? (own.length > 0 ? own.join("\n\n") : undefined);
}
