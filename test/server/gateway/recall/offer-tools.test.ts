import { describe, expect, test } from "vitest";
import type { GatewayConfig } from "../../../../src/server/gateway/config/config.ts";
import { predictTools } from "../../../../src/server/gateway/recall/offer-tools.ts";
import { RECALL_TOOL } from "../../../../src/server/gateway/recall/recall-tools.ts";
import { parseRequest } from "../../../../src/server/gateway/request/read-request.ts";
import { ReferencedItems } from "../../../../src/server/gateway/request/referenced-items.ts";
import { SeenBodies } from "../../../../src/server/gateway/request/seen-bodies.ts";
import type { WireName } from "../../../../src/wire/wire.ts";
import { getWire } from "../../../../src/wire/wires.ts";
import { readTool, requestOf, userSays } from "./talk.ts";

async function offers(
  api: Exclude<WireName, "google">,
  rest: object,
  said = [userSays("Hello.")],
): Promise<boolean> {
  const body = Buffer.from(JSON.stringify(requestOf(api, true, said, rest)));
  const stored = <T>(message: T) => message;
  const parts = {
    bodies: new SeenBodies(() => 1_000),
    items: new ReferencedItems(() => ({ items: 100, itemBytes: 100_000 })),
    stored,
    config: () => ({ redact: false }) as GatewayConfig,
  };
  const config = { recall: { offer: "always" }, routes: {} } as GatewayConfig;
  return predictTools(await parseRequest(getWire(api), body, "somebody", parts), config);
}

describe("longhaul's own tools", () => {
  test.each([
    ["anthropic", {}],
    ["anthropic", { tool_choice: { type: "auto", disable_parallel_tool_use: true } }],
    ["anthropic", { tools: undefined }],
    ["openai-chat", { tool_choice: "auto", response_format: { type: "json_object" } }],
    [
      "openai-responses",
      { tool_choice: "auto", text: { format: { type: "text" }, verbosity: "low" }, tools: [] },
    ],
    ["openai-responses", { background: false, conversation: null }],
  ] as const)("longhaul's own tools are offered to %s with %j", async (api, rest) => {
    expect(await offers(api, rest)).toBe(true);
  });

  test.each([
    ["anthropic", { tool_choice: { type: "any" } }],
    ["anthropic", { tool_choice: { type: "none" } }],
    ["anthropic", { tools: [{ ...readTool("anthropic"), name: RECALL_TOOL }] }],
    ["anthropic", { tools: null }],
    ["openai-chat", { tool_choice: "required" }],
    ["openai-chat", { tool_choice: { type: "function", function: { name: "read" } } }],
    ["openai-chat", { n: 2 }],
    ["openai-chat", { functions: [{ name: "read" }] }],
    ["openai-chat", { tools: undefined, response_format: { type: "json_object" } }],
    ["openai-responses", { tool_choice: { type: "allowed_tools", tools: [] } }],
    ["openai-responses", { background: true }],
    ["openai-responses", { conversation: "conv_1" }],
  ] as const)("longhaul's own tools are not offered to %s with %j", async (api, rest) => {
    expect(await offers(api, rest)).toBe(false);
  });

  test("longhaul's own tools are not offered if the client begins the reply", async () => {
    expect(await offers("anthropic", {}, [userSays("Hello."), { role: "assistant", content: "It is" }])).toBe(
      false,
    );
  });
});
