import fc from "fast-check";
import { expect } from "vitest";
import { startGateway } from "../../support/gateway.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { ApiClient } from "./support/api-client.ts";

const FORMATS = ["longhaul", "anthropic", "openai-chat", "openai-responses", "ai-sdk"];
const role = fc.constantFrom("user", "assistant", "tool", "system", "developer", 7, null);
const block = fc.oneof(
  fc.json().map((text) => JSON.parse(text)),
  fc.record(
    {
      type: fc.constantFrom(
        "text",
        "tool_use",
        "tool_result",
        "image",
        "input_text",
        "tool-call",
        "image_url",
        "reasoning",
      ),
      text: fc.oneof(fc.string(), fc.integer()),
      id: fc.string(),
      tool_use_id: fc.string(),
      source: fc.json().map((text) => JSON.parse(text)),
      output: fc.json().map((text) => JSON.parse(text)),
      content: fc.json().map((text) => JSON.parse(text)),
    },
    { requiredKeys: [] },
  ),
);
const message = fc.record(
  {
    role,
    type: fc.constantFrom("message", "function_call", "function_call_output", "reasoning", 3),
    content: fc.oneof(fc.string(), fc.array(block, { maxLength: 3 }), fc.constant(null), fc.object()),
    parts: fc.array(block, { maxLength: 3 }),
    tool_calls: fc.json().map((text) => JSON.parse(text)),
    call_id: fc.oneof(fc.string(), fc.integer()),
    output: fc.json().map((text) => JSON.parse(text)),
    arguments: fc.oneof(fc.string(), fc.object()),
  },
  { requiredKeys: [] },
);

sizedTest("no body makes a route fail without a typed reason", async () => {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
  const api = await ApiClient.open(gateway);
  await api.post("/sessions", { id: "s" });
  const send = async (path: string, body: unknown) => {
    const headers = { "content-type": "application/json" };
    const response = await api.fetch(path, { method: "POST", headers, body: JSON.stringify(body) ?? "null" });
    const text = await response.text();
    expect([response.status, text]).not.toEqual([500, expect.anything()]);
    return response.status;
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(...FORMATS),
      async (messages, format) => {
        await send("/sessions/s/entries", { messages, format });
        await send("/fit", { model: "gpt-5", messages, format });
        await send("/fit", { model: "gpt-5", messages });
      },
    ),
    { numRuns: proofRounds(400, 25) },
  );
  const paths = [
    "/sessions/s/fit",
    "/sessions/s/compact",
    "/sessions/s/revert",
    "/sessions/s/redact",
    "/sessions/s/rewind",
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths, "/recall", "/memories", "/replays", "/imports/x"),
      fc.json(),
      async (path, body) => {
        await send(path, JSON.parse(body));
      },
    ),
    { numRuns: proofRounds(400, 25) },
  );
  expect(gateway.logged.filter(({ event }) => event === "unexpected")).toEqual([]);
});
