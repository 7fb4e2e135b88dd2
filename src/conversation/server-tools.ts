import type { MessageInput } from "../index.ts";

/** Types of blocks and items by which providers say that they have run a tool themselves. */
const SERVER_CALL = /^(?:server_tool_use|mcp_tool_use|(?!computer_)\w+_call)$/;

/**
 * True if the provider ran tools of its own while it made a reply. Providers then report the input of all rounds together,
 * which says nothing about the size of the request.
 */
export function ranServerTools(reply: MessageInput | undefined): boolean {
  // Results of a client's tools come in a message of their own.
  return (reply?.parts ?? []).some(
    (part) => part.type === "tool-result" || (part.type === "raw" && SERVER_CALL.test(typeOf(part.value))),
  );
}

function typeOf(value: unknown): string {
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  return typeof type === "string" ? type : "";
}
