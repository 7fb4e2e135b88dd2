import { checkList } from "../model/arguments.ts";
import type { Message } from "../model/message.ts";
import type { Part } from "../model/part.ts";

/**
 * Merges neighbouring messages of one role, for chat templates that insist on alternation. Messages with reasoning stay as
 * they are, and so does a message with a call: results must follow it.
 */
export function alternateRoles(messages: readonly Message[]): readonly Message[] {
  checkList("messages", messages, { role: "name", parts: "array" });
  const merged: Message[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    // What is kept beside the parts of the second message goes: it refers to them by index.
    if (last && canMerge(last, message))
      merged[merged.length - 1] = { ...last, parts: [...last.parts, ...message.parts] };
    else merged.push(message);
  }
  return merged;
}

function canMerge(first: Message, second: Message): boolean {
  const { role } = first;
  if (role !== second.role || (role !== "user" && role !== "assistant")) return false;
  return ![...first.parts, ...second.parts].some(isReasoning) && !first.parts.some(isCall);
}

function isReasoning(part: Part): boolean {
  return part.type === "reasoning" || (part.type === "blob" && part.of === "reasoning");
}

function isCall(part: Part): boolean {
  return part.type === "tool-call" || (part.type === "blob" && part.of === "tool-call");
}
