import { describe, expect, test } from "vitest";
import { hasRunServerTools } from "../../../src/kernel/calls/call-window.ts";
import { decodeResponsesItem } from "../../../src/wire/openai-responses/openai-responses-items.ts";

const replyWith = (item: { readonly [field: string]: unknown }) => ({
  role: "assistant" as const,
  parts: [decodeResponsesItem(item).part],
});

describe("a reply with tools run by the provider", () => {
  test.each([
    { type: "web_search_call", id: "ws_1", status: "completed" },
    { type: "file_search_call", id: "fs_1", queries: ["x"] },
    { type: "code_interpreter_call", id: "ci_1", code: "1" },
    { type: "mcp_call", id: "mcp_1", name: "look", server_label: "docs", arguments: "{}" },
    { type: "tool_search_call", id: "ts_1", call_id: null, execution: "server" },
  ])("a reply with tools run by the provider is recognized by an item of type $type", (item) => {
    expect(hasRunServerTools(replyWith(item))).toBe(true);
  });

  test.each([
    { type: "function_call", id: "fc_1", call_id: "call_1", arguments: "{}" },
    { type: "function_call", id: "fc_1", name: "look", arguments: "{}" },
    { type: "custom_tool_call", id: "ctc_1", input: "x" },
    { type: "local_shell_call", id: "ls_1", action: { type: "exec", command: ["ls"] } },
    { type: "computer_call", id: "cu_1", call_id: "call_1", action: { type: "click" } },
    { type: "tool_search_call", id: "ts_1", call_id: "call_1", execution: "client" },
  ])("a call that the client runs does not count as run by the provider: $type", (item) => {
    const reply = replyWith(item);
    expect(reply.parts[0]?.type).toBe("raw");
    expect(hasRunServerTools(reply)).toBe(false);
  });
});
