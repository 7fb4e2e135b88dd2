import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV4CallOptions, LanguageModelV4Content } from "@ai-sdk/provider";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { resolveModel } from "../../../src/wire/provider/ai-sdk/ai-sdk-provider.ts";
import { wireApis, wireOptions } from "../wire-models.ts";
import { startWireServer, type WireServer } from "./wire-server.ts";

let server: WireServer;
beforeEach(async () => {
  server = await startWireServer();
});
afterEach(() => server.close());

const request: LanguageModelV4CallOptions = {
  prompt: [{ role: "user", content: [{ type: "text", text: "What is in the file?" }] }],
  tools: [
    {
      type: "function",
      name: "read",
      inputSchema: { type: "object", properties: { path: { type: "string" } } },
    },
  ],
};

const reply = {
  text: "Let me look.",
  reasoning: "A file, so read it.",
  toolCalls: [
    { id: "call_1", name: "read", input: { path: "a.txt" } },
    { id: "call_2", name: "read", input: { path: "b.txt" } },
  ],
};

function seenOf(content: readonly LanguageModelV4Content[]) {
  return content.flatMap((part) => {
    if (part.type === "text") return [part.text];
    return part.type === "tool-call" ? [`${part.toolName} ${part.input}`] : [];
  });
}

describe("the wire server, as the packages of the AI SDK understand it", () => {
  test.each(wireApis)("calls tools in one piece: $id", async ({ id }) => {
    server.script({ type: "reply", reply });
    const { vendor, connection } = resolveModel(id, wireOptions(server));
    const result = await (await vendor.connect(connection)).doGenerate(request);
    expect(seenOf(result.content)).toEqual([
      "Let me look.",
      `read {"path":"a.txt"}`,
      `read {"path":"b.txt"}`,
    ]);
    expect(result.finishReason.unified).toBe("tool-calls");
  });

  test.each(wireApis)("calls tools in a stream: $id", async ({ id }) => {
    server.script({ type: "reply", reply });
    const { vendor, connection } = resolveModel(id, wireOptions(server));
    const { stream } = await (await vendor.connect(connection)).doStream(request);
    const calls: string[] = [];
    let text = "";
    for await (const part of stream) {
      if (part.type === "text-delta") text += part.delta;
      if (part.type === "tool-call") calls.push(`${part.toolName} ${part.input}`);
      if (part.type === "error") throw part.error;
    }
    expect(text).toBe("Let me look.");
    expect(calls).toEqual([`read {"path":"a.txt"}`, `read {"path":"b.txt"}`]);
  });

  test("the wire server, as the packages of the AI SDK understand it embeds each text the same way every time", async () => {
    server.always({ type: "reply", reply: {} });
    const model = createOpenAI({ apiKey: "key", baseURL: `${server.url}/v1` }).embedding(
      "text-embedding-3-small",
    );
    const values = ["one", "two", "one"];
    const { embeddings } = await model.doEmbed({ values });
    expect(embeddings[0]).toEqual(embeddings[2]);
    expect(embeddings[0]).not.toEqual(embeddings[1]);
  });

  test("the wire server, as the packages of the AI SDK understand it says when nothing is scripted", async () => {
    const response = await fetch(`${server.url}/v1/messages`, { method: "POST", body: "{}" });
    expect(response.status).toBe(400);
    expect(await response.text()).toBe("nothing is scripted");
  });
});
