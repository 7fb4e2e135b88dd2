import { describe, expect, test } from "vitest";
import { startGateway } from "../../support/gateway.ts";
import { proofCases, proofTest, sizedTest } from "../../support/proof.ts";
import { ApiClient } from "./support/api-client.ts";

const TEXT = "export const berth = 4; // The crane lifts forty tons. ".repeat(40);
const TURNS = Array.from({ length: 30 }, (_, turn) => turn);

/** The same work in each format: a request, then calls with bulky results. */
const CONVERSATIONS = {
  anthropic: [
    { role: "user", content: "Read all files." },
    ...TURNS.flatMap((turn) => [
      {
        role: "assistant",
        content: [{ type: "tool_use", id: `c${turn}`, name: "read", input: { file: turn } }],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: `c${turn}`, content: `${turn} ${TEXT}` }],
      },
    ]),
  ],
  "openai-chat": [
    { role: "system", content: "You read." },
    { role: "user", content: "Read all files." },
    ...TURNS.flatMap((turn) => [
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: `c${turn}`, type: "function", function: { name: "read", arguments: `{ "file": ${turn} }` } },
        ],
      },
      { role: "tool", tool_call_id: `c${turn}`, content: `${turn} ${TEXT}` },
    ]),
  ],
  "openai-responses": [
    { role: "developer", content: "You read." },
    { type: "message", role: "user", content: [{ type: "input_text", text: "Read all files." }] },
    ...TURNS.flatMap((turn) => [
      { type: "reasoning", id: `rs_${turn}`, summary: [], encrypted_content: `sealed-${turn}` },
      {
        type: "function_call",
        id: `fc_${turn}`,
        call_id: `c${turn}`,
        name: "read",
        arguments: `{ "file": ${turn} }`,
      },
      { type: "function_call_output", call_id: `c${turn}`, output: `${turn} ${TEXT}` },
    ]),
  ],
  "ai-sdk": [
    { role: "user", content: "Read all files." },
    ...TURNS.flatMap((turn) => [
      {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: `c${turn}`, toolName: "read", input: { file: turn } }],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: `c${turn}`,
            toolName: "read",
            output: { type: "text", value: `${turn} ${TEXT}` },
          },
        ],
      },
    ]),
  ],
};

describe("POST /fit", () => {
  sizedTest.each(proofCases(Object.entries(CONVERSATIONS).reverse(), 2))(
    "POST /fit detects and fits messages of %s",
    async (format, messages) => {
      const api = await ApiClient.open(await startGateway({ upstream: "http://127.0.0.1:9" }));
      const request = { model: "claude-sonnet-4-5", window: 10_000, messages };
      const { body } = await api.post("/fit", request);
      expect(body.format).toBe(format);
      const { receipt } = body;
      expect(receipt.isChanged).toBe(true);
      expect(receipt.tokens.with).toBeLessThan(10_000);
      expect(receipt.tokens.without).toBeGreaterThan(10_000);
      expect(receipt.left.length + receipt.edited.length).toBeGreaterThan(0);
      expect(receipt.promptCost.with).toBeLessThan(receipt.promptCost.without);
      const sent = body.messages.map((message: object) => JSON.stringify(message));
      expect(sent.at(-1)).toBe(JSON.stringify(messages.at(-1)));
      expect(sent.join()).toContain("Read all files.");
      // Each result has its call, and sealed reasoning stays with the call that it led to.
      const idsOf = (pattern: RegExp) => [...new Set([...sent.join().matchAll(pattern)].map(([, id]) => id))];
      const calls = idsOf(/"(?:id|call_id|toolCallId|tool_use_id|tool_call_id)":"(c\d+)"/g);
      expect(calls).toContain("c29");
      for (const id of idsOf(/"encrypted_content":"sealed-(\d+)"/g))
        expect(sent.join()).toContain(`"fc_${id}"`);
      const small = await api.post("/fit", { ...request, window: 1_000_000, format });
      expect(small.body).toMatchObject({ messages, receipt: { isChanged: false, left: [], edited: [] } });
    },
  );

  proofTest("POST /fit keeps the same beginning when the conversation grows", async () => {
    const api = await ApiClient.open(await startGateway({ upstream: "http://127.0.0.1:9" }));
    const messages = CONVERSATIONS["openai-responses"];
    const request = { model: "gpt-5", window: 10_000 };
    const first = (await api.post("/fit", { ...request, messages })).body.messages;
    const grown = [...messages, { role: "assistant", content: "Yes." }, { role: "user", content: "Done?" }];
    const second = (await api.post("/fit", { ...request, messages: grown })).body.messages;
    expect(JSON.stringify(second).startsWith(JSON.stringify(first).slice(0, -1))).toBe(true);
  });

  test("POST /fit refuses protected content that does not fit only if the request asks for an error", async () => {
    const api = await ApiClient.open(await startGateway({ upstream: "http://127.0.0.1:9" }));
    const request = { model: "gpt-5", window: 1_000, messages: [{ role: "user", content: TEXT.repeat(10) }] };
    expect((await api.post("/fit", request)).body.messages).toHaveLength(1);
    const refused = await api.post("/fit", { ...request, oversize: "error" });
    expect(refused).toMatchObject({ status: 422, body: { error: { code: "WINDOW_FLOOR" } } });
  });
});

proofTest("other requests are answered while a long conversation is fitted", async () => {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
  const client = await ApiClient.open(gateway);
  const messages = Array.from({ length: 4_000 }, (_, at) => ({
    role: at % 2 ? "assistant" : "user",
    content: `m${at} a b c`,
  }));
  let isFitted = false;
  const fitting = client.post("/fit", { model: "gpt-4", window: 4_000, messages }).then((reply) => {
    isFitted = true;
    return reply;
  });
  let answered = 0;
  while (!isFitted) {
    await client.get("/health");
    if (!isFitted) answered++;
  }
  const { status, body } = await fitting;
  expect(status).toBe(200);
  expect(body.receipt).toMatchObject({ isChanged: true, isFitted: true });
  expect(answered).toBeGreaterThan(2);
});

test("a long conversation that cannot be fitted fails with the same error as a short one", async () => {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
  const client = await ApiClient.open(gateway);
  const reply = await client.post("/fit", {
    model: "gpt-4",
    window: 200,
    oversize: "error",
    messages: [{ role: "user", content: "word ".repeat(40_000) }],
  });
  expect([reply.status, reply.body.error.code]).toEqual([422, "WINDOW_FLOOR"]);
});
