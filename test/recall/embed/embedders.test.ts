import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAI } from "@ai-sdk/openai";
import { expect, onTestFinished, test } from "vitest";
import { aiSdkEmbedder } from "../../../src/recall/embed/ai-sdk-embedder.ts";
import { createOfflineEmbedder } from "../../../src/recall/embed/offline-embedder.ts";
import { ollamaEmbedder } from "../../../src/recall/embed/ollama-embedder.ts";
import { openAiEmbedder } from "../../../src/recall/embed/openai-embedder.ts";
import { loadStaticEmbedder } from "../../../src/recall/embed/static/static-embedder.ts";
import { testKernel } from "../../support/kernel.ts";
import { startWireServer } from "../../support/wire-server/wire-server.ts";

const wait = async () => undefined;

async function wireServer() {
  const server = await startWireServer();
  onTestFinished(() => server.close());
  server.always({ type: "reply", reply: {} });
  return server;
}

test("texts are sent to an OpenAI-compatible server in batches, and vectors return in order", async () => {
  const server = await wireServer();
  const embedder = openAiEmbedder({
    url: `${server.url}/v1/`,
    model: "small",
    apiKey: "sk-test-key-000000000000",
    batchSize: 2,
  });
  expect([embedder.id, embedder.dimensions]).toEqual(["openai/small", undefined]);
  const texts = ["alpha", "beta", "gamma", "delta", "epsilon"];
  const vectors = await embedder.embed(texts);
  expect(vectors).toHaveLength(5);
  expect(embedder.dimensions).toBe(8);
  expect(server.requests.map(({ body }) => body.input)).toEqual([
    ["alpha", "beta"],
    ["gamma", "delta"],
    ["epsilon"],
  ]);
  expect(server.requests[0]?.headers.authorization).toBe("Bearer sk-test-key-000000000000");
  expect(await embedder.embed(["delta"])).toEqual([vectors[3]]);
  expect(
    await openAiEmbedder({ url: `${server.url}/v1`, model: "small", dimensions: 4 }).embed(["x"]),
  ).toMatchObject([{ length: 4 }]);
});

test("a busy server is asked again, a refusing one is not, and errors hide the key", async () => {
  const server = await wireServer();
  const options = { url: `${server.url}/v1`, model: "small", apiKey: "sk-very-secret-key-123456", wait };
  server.script({ type: "error", kind: "rate-limit" }, { type: "error", kind: "server-error" });
  expect(await openAiEmbedder(options).embed(["x"])).toHaveLength(1);
  expect(server.requests).toHaveLength(3);
  server.script({ type: "error", kind: "unauthorized", body: "bad key sk-very-secret-key-123456" });
  const failure = await openAiEmbedder(options)
    .embed(["x"])
    .catch((error: unknown) => error as Error);
  expect(failure).toMatchObject({ code: "PROVIDER_FAILED", details: { status: 401, isRetryable: false } });
  expect(String(failure)).not.toContain("very-secret");
  expect(server.requests).toHaveLength(4);
});

test("replies without vectors and silent servers are typed errors", async () => {
  const server = await wireServer();
  const options = { url: `${server.url}/v1`, model: "small", wait };
  const embedder = openAiEmbedder(options);
  server.script({ type: "rubbish", text: "<html>" });
  await expect(embedder.embed(["x"])).rejects.toMatchObject({ code: "PROVIDER_FAILED" });
  server.script({ type: "reply", reply: { embeddings: [[1, 2]] } });
  await expect(embedder.embed(["x", "y"])).rejects.toMatchObject({ code: "PROVIDER_FAILED" });
  server.always({ type: "stall" });
  const hasty = openAiEmbedder({ ...options, timeoutMs: 50 });
  await expect(hasty.embed(["x"])).rejects.toMatchObject({ code: "PROVIDER_TIMEOUT" });
  await expect(embedder.embed(["x"], { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "ABORTED",
  });
});

test("an Ollama server is called by its own API", async () => {
  const asked: unknown[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const { model, input } = JSON.parse(body) as { model: string; input: string[] };
    asked.push([request.url, model, input]);
    response.end(JSON.stringify({ model, embeddings: input.map((text) => [text.length, 1, 0]) }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const embedder = ollamaEmbedder({ url, model: "nomic" });
  expect(await embedder.embed(["one", "three"])).toEqual([
    [3, 1, 0],
    [5, 1, 0],
  ]);
  expect(asked).toEqual([["/api/embed", "nomic", ["one", "three"]]]);
  expect([embedder.id, embedder.dimensions]).toEqual(["ollama/nomic", 3]);
});

test("an embedding model of the AI SDK can be passed by value", async () => {
  const server = await wireServer();
  const openai = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "sk-test" });
  const embedder = aiSdkEmbedder(openai.embeddingModel("text-embedding-3-small"));
  expect(embedder.id).toContain("text-embedding-3-small");
  expect(await embedder.embed(["a", "b"])).toHaveLength(2);
  expect(await embedder.embed([])).toEqual([]);
});

test("the offline embedder gives the same vectors on the main thread and in its worker", async () => {
  const embedder = createOfflineEmbedder(loadStaticEmbedder());
  const texts = Array.from({ length: 300 }, (_, index) =>
    `Text number ${index} about the weather in spring. `.repeat(3),
  );
  const many = await embedder.embed(texts);
  const [one] = await embedder.embed([texts[123] as string]);
  expect([...(many[123] as ArrayLike<number> & Iterable<number>)]).toEqual([...(one as Float32Array)]);
  await embedder.close?.();
});

test("a kernel counts the worker that embeds a large batch, and closes it", async () => {
  const kernel = await testKernel();
  const session = await kernel.session();
  for (let n = 0; n < 30; n++)
    await session.append({ role: "user", text: `note ${n}: ${"words ".repeat(200)}` });
  await kernel.memory.catchUp();
  expect(kernel.counts().worker).toEqual({ opened: 1, closed: 0 });
  await kernel.close();
  expect(kernel.counts().worker).toEqual({ opened: 1, closed: 1 });
});
