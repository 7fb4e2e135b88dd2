import type { Message, MessageInput, PartInput } from "../../../src/kernel/index.ts";

/** A message as one text in any format: role, text and calls. */
export function textsIn(message: Message | MessageInput): string {
  const role = message.role === "tool" ? "user" : message.role;
  const own = "text" in message && message.text !== undefined ? [message.text] : [];
  const parts = (message.parts ?? []) as readonly PartInput[];
  return [role, ...own, ...parts.flatMap(textOf)].join("|");
}

function textOf(part: PartInput): readonly string[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [part.text];
    case "tool-call":
      return [`call ${part.callId} ${part.name}`];
    case "tool-result":
      return [
        `result ${part.callId}`,
        ...(typeof part.output === "string" ? [part.output] : part.output.flatMap(textOf)),
      ];
    default:
      return part.type === "reasoning" ? [] : [part.type];
  }
}
