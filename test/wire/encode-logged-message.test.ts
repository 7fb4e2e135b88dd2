import { describe, expect, test } from "vitest";
import { openaiResponsesWire } from "../../src/wire/openai-responses/openai-responses-wire.ts";
import { testKernel } from "../support/kernel.ts";

const bytes = {
  loadBase64: async () => "AAAA",
  restore: async () => ({ type: "text", text: "restored" }) as const,
};

async function written(items: readonly object[]) {
  const session = await (await testKernel()).session("one");
  const all: unknown[] = [];
  for (const { input } of openaiResponsesWire.decode(items as [])) {
    const { message } = await session.append(input);
    all.push(...((await openaiResponsesWire.encodeLogged?.(message, bytes)) ?? []));
  }
  return all;
}

describe("encoding a logged message as request items", () => {
  test("a logged message becomes request items with its content, without the ids of the provider", async () => {
    const items = [
      { type: "message", role: "developer", content: [{ type: "input_text", text: "Be brief." }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Hello." }] },
      {
        type: "message",
        phase: "commentary",
        role: "assistant",
        content: [{ type: "output_text", text: "I look." }],
      },
      {
        type: "function_call",
        call_id: "c1",
        name: "read",
        arguments: '{"path":"x"}',
        status: "completed",
      },
      { type: "function_call_output", call_id: "c1", output: "text" },
      {
        type: "local_shell_call",
        call_id: "c2",
        status: "completed",
        action: { type: "exec", command: ["ls"] },
      },
      { type: "local_shell_call_output", call_id: "c2", output: "a b" },
    ];
    expect(await written(items.map((item, index) => ({ id: `item_${index}`, ...item })))).toEqual(items);
  });

  test("a logged message keeps reasoning only with ciphertext and with the item after it", async () => {
    const sealed = { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "gAAAA" };
    const answer = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Yes." }] };
    expect(await written([{ type: "reasoning", id: "rs_1", summary: [] }, answer])).toEqual([answer]);
    expect(await written([sealed, answer])).toEqual([sealed, answer]);
    expect(await written([answer, sealed])).toEqual([answer]);
  });

  test("a logged message leaves out the items of the provider's own tools", async () => {
    const answer = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Found." }] };
    const search = { type: "web_search_call", id: "ws_1", status: "completed" };
    const list = { type: "mcp_list_tools", id: "mcpl_1", server_label: "docs", tools: [] };
    expect(await written([list, search, answer])).toEqual([answer]);
  });
});
