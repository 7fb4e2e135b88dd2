import type { WireObject } from "../wire.ts";

const CONTENT_TYPES: readonly unknown[] = [
  "refusal",
  "input_text",
  "output_text",
  "input_image",
  "input_file",
  "input_audio",
];

/** True for a block that belongs inside a message of the Responses API; all others are items. */
export function isMessageContent({ type }: WireObject): boolean {
  return CONTENT_TYPES.includes(type);
}

/** Items of the Responses API other than messages. */
export const RESPONSES_ITEMS: ReadonlySet<string> = new Set([
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "reasoning",
  "item_reference",
  "local_shell_call",
  "local_shell_call_output",
  "shell_call",
  "shell_call_output",
  "apply_patch_call",
  "apply_patch_call_output",
  "computer_call",
  "computer_call_output",
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_call",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
  "compaction",
]);

/** True for an item, as opposed to a request or response with items. */
export function isResponsesItem({ type, role, content, input, output }: WireObject): boolean {
  if (typeof role === "string") return typeof content === "string" || Array.isArray(content);
  if (typeof type !== "string") return false;
  return RESPONSES_ITEMS.has(type) || !(Array.isArray(input) || Array.isArray(output));
}
