import { describe, expect, test } from "vitest";
import { createToken } from "../../src/server/gateway/config/access-token.ts";
import { findReferences } from "../../src/server/gateway/upstream/check-ownership.ts";
import { ask, startGateway } from "../support/gateway.ts";
import { proofTest } from "../support/proof.ts";
import { startUpstream } from "../support/upstream.ts";

const [ALICE, BOB, ADMIN] = [createToken(), createToken(), createToken()];

/** A gateway with three tokens in front of a provider whose key it holds. */
async function shared(isKeyed = true) {
  let count = 0;
  const upstream = await startUpstream((_, response) => {
    const text = { type: "output_text", text: "Fine.", annotations: [] };
    const item = {
      type: "message",
      id: `msg_${++count}`,
      role: "assistant",
      status: "completed",
      content: [text],
    };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        id: `resp_${count}`,
        object: "response",
        status: "completed",
        model: "gpt-5",
        output: [item],
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      }),
    );
  });
  const apis = ["openai-responses", "openai-chat", "anthropic"];
  const gateway = await startGateway({
    upstream: [{ name: "openai", baseUrl: upstream.url, apis, ...(isKeyed && { keyEnv: "KEY" }) }],
    env: { ALICE, BOB, ADMIN, KEY: "key-of-the-gateway" },
    config: {
      tokens: [
        { name: "alice", env: "ALICE" },
        { name: "bob", env: "BOB" },
        { name: "admin", env: "ADMIN", passthrough: true },
      ],
    },
  });
  const as = (token: string, method: string, path: string, body?: object) =>
    ask(gateway, { method, path, body, headers: { "x-longhaul-token": token } });
  const respond = (token: string, body: object) =>
    as(token, "POST", "/v1/responses", { model: "gpt-5", input: "Hello.", ...body });
  return { upstream, as, respond };
}

/** Requests for another token's data at the provider, without and with an id. */
const WAYS: readonly (readonly [method: string, path: string])[] = [
  ["GET", "/v1/responses/resp_1"],
  ["DELETE", "/v1/responses/resp_1"],
  ["GET", "/v1/responses/resp_1/input_items"],
  ["GET", "/v1/files"],
  ["GET", "/v1/files/file_1/content"],
  ["DELETE", "/v1/files/file_1"],
  ["GET", "/v1/batches"],
  ["GET", "/v1/messages/batches"],
  ["GET", "/v1/conversations/conv_1/items"],
  ["GET", "/v1/chat/completions"],
  ["GET", "/v1/chat/completions/chatcmpl_1/messages"],
  ["GET", "/v1/vector_stores"],
  ["GET", "/v1/fine_tuning/jobs"],
  ["GET", "/v1/containers"],
  ["GET", "/v1/assistants"],
  ["GET", "/v1/threads/thread_1/messages"],
  ["DELETE", "/v1/models/ft:gpt"],
];

const NAMED: readonly object[] = [
  { previous_response_id: "resp_1" },
  { conversation: "conv_1" },
  { conversation: { id: "conv_1" } },
  { prompt: { id: "pmpt_1" } },
  { input: [{ type: "item_reference", id: "msg_1" }] },
  { input: [{ role: "user", content: [{ type: "input_file", file_id: "file_1" }] }] },
  { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] },
  { tools: [{ type: "code_interpreter", container: "cntr_1" }] },
  { tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: ["file_1"] } }] },
];

describe("objects that the provider keeps under a shared key", () => {
  proofTest(
    "objects that the provider keeps under a shared key are open only to the token that created them and to an unrestricted token",
    async () => {
      const { upstream, as, respond } = await shared();
      expect((await respond(ALICE, {})).status).toBe(200);
      for (const [method, path] of WAYS) {
        expect([403, 404], `${method} ${path}`).toContain((await as(BOB, method, path)).status);
      }
      for (const body of NAMED) expect((await respond(BOB, body)).status, JSON.stringify(body)).toBe(404);
      const escaped = '{"model":"gpt-5","input":"x","previous\\u005fresponse\\u005fid":"resp_1"}';
      expect((await as(BOB, "POST", "/v1/responses", Buffer.from(escaped))).status).toBe(404);
      const twice = '{"model":"gpt-5","input":"x","conversation":null,"conversation":"conv_1"}';
      expect((await as(BOB, "POST", "/v1/responses", Buffer.from(twice))).status).toBe(400);
      expect(upstream.heard).toHaveLength(1);

      expect((await respond(ALICE, { previous_response_id: "resp_1" })).status).toBe(200);
      expect((await respond(ALICE, { input: [{ type: "item_reference", id: "msg_1" }] })).status).toBe(200);
      expect((await as(ALICE, "GET", "/v1/responses/resp_1")).status).toBe(200);
      for (const [method, path] of WAYS) expect((await as(ADMIN, method, path)).status).toBe(200);
      for (const body of NAMED) expect((await respond(ADMIN, body)).status).toBe(200);
    },
  );

  test("the check for stored objects lets embeddings and clients with their own keys through", async () => {
    const { as } = await shared();
    expect((await as(BOB, "POST", "/v1/embeddings", { model: "e", input: "x" })).status).toBe(200);
    const own = await shared(false);
    for (const [method, path] of WAYS) expect((await own.as(BOB, method, path)).status).toBe(200);
  });

  test("only fields can refer to stored objects, not words that are said or handed to tools", () => {
    const said = {
      model: "m",
      prompt: "text",
      messages: [
        { role: "user", content: 'Look at "file_id": and {"previous_response_id":"x"}' },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "1", name: "read", input: { file_id: "f" } }],
        },
      ],
      tools: [{ name: "read", input_schema: { properties: { file_id: { type: "string" } } } }],
    };
    expect(findReferences(Buffer.from(JSON.stringify(said)))).toEqual([]);
    expect(findReferences(Buffer.from('{"file_id": '))).toBe("unreadable");
  });
});
