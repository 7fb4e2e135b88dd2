import { checkList } from "../model/argument-checks.ts";
import type { Message } from "../model/message.ts";
import type { Part } from "../model/part.ts";

/**
 * Merges neighboring messages of the same role, for chat templates that require alternating roles. Messages with
 * reasoning are never merged, and nothing is merged into a message with a tool call, because its results must follow
 * it.
 */
export function alternateRoles(messages: readonly Message[]): readonly Message[] {
  checkList("messages", messages, { role: "name", parts: "array" });
  const merged: Message[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    // Other fields of the second message are dropped: they refer to its parts by index.
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
