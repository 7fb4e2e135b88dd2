import type { MessageInput } from "../index.ts";

/** Types of blocks and items with which providers report that they ran a tool themselves. */
const SERVER_CALL = /^(?:server_tool_use|mcp_tool_use|\w+_call)$/;
/** Types of calls that the client runs. */
const CLIENT_CALL = /^(?:function|custom_tool|local_shell|shell|apply_patch|computer)_call$/;

/**
 * True if the provider ran its own tools while generating a reply. Providers then report the input of all rounds
 * together, which says nothing about the size of the request.
 */
export function hasRunServerTools(reply: MessageInput | undefined): boolean {
  // Results of client-side tools arrive in a separate message.
  return (reply?.parts ?? []).some(
    (part) => part.type === "tool-result" || (part.type === "raw" && isServerCall(part.value)),
  );
}

/** True for a call that the provider ran. A call with a `call_id` waits for a result from the client. */
function isServerCall(value: unknown): boolean {
  const { type, call_id: callId } = Object(value) as { readonly type?: unknown; readonly call_id?: unknown };
  if (typeof type !== "string" || typeof callId === "string") return false;
  return SERVER_CALL.test(type) && !CLIENT_CALL.test(type);
}
