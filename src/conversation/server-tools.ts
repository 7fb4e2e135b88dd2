import type { MessageInput } from "../index.ts";

/** Types of blocks and items with which providers report that they ran a tool themselves. */
const SERVER_CALL = /^(?:server_tool_use|mcp_tool_use|(?!computer_)\w+_call)$/;

/**
 * True if the provider ran its own tools while generating a reply. Providers then report the input of all rounds
 * together, which says nothing about the size of the request.
 */
export function ranServerTools(reply: MessageInput | undefined): boolean {
  // Results of client-side tools arrive in a separate message.
  return (reply?.parts ?? []).some(
    (part) => part.type === "tool-result" || (part.type === "raw" && SERVER_CALL.test(typeOf(part.value))),
  );
}

function typeOf(value: unknown): string {
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  return typeof type === "string" ? type : "";
}
