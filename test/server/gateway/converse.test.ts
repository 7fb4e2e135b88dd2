import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { AwsFrameSplitter, encodeAwsFrame } from "../../../src/wire/bedrock/aws-frames.ts";
import {
  ask,
  lineOf,
  logOf,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
  threadsOf,
} from "../../support/gateway.ts";
import { type Heard, startUpstream } from "../../support/upstream.ts";

type Json = Readonly<Record<string, unknown>>;
type Block = Json & { readonly type: string };

const MODEL = "/model/us.anthropic.claude-opus-4-8-v1%3A0";
const HEADERS = { authorization: "Bearer bedrock-key" };
const USAGE = { input_tokens: 12, output_tokens: 5, cache_read_input_tokens: 100 };
const THOUGHT = { type: "thinking", thinking: "I look.", signature: "c2ln" };
const SECRET = { type: "redacted_thinking", data: "cmVkYWN0ZWQ=" };
const CALL = { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Bern", id: 7 } };
const THOUGHT_IN_CONVERSE = { reasoningContent: { reasoningText: { text: "I look.", signature: "c2ln" } } };
const SECRET_IN_CONVERSE = { reasoningContent: { redactedContent: "cmVkYWN0ZWQ=" } };
const CALL_IN_CONVERSE = { toolUse: { toolUseId: "toolu_1", name: "weather", input: CALL.input } };

/** An upstream that speaks Bedrock's invoke. */
function startBedrock(reply: (heard: Heard, index: number) => readonly Block[]) {
  return startUpstream((heard, response, index) => {
    const content = reply(heard, index);
    const stop = { stop_reason: content.at(-1)?.type === "tool_use" ? "tool_use" : "end_turn" };
    const message = { id: `msg_${index}`, type: "message", role: "assistant", model: "claude-opus-4-8" };
    if (heard.url.endsWith("/invoke")) {
      response.setHeader("content-type", "application/json");
      response.setHeader("x-amzn-requestid", "r1");
      return void response.end(JSON.stringify({ ...message, content, ...stop, usage: USAGE }));
    }
    response.setHeader("content-type", "application/vnd.amazon.eventstream");
    const first = { type: "message_start", message: { ...message, content: [], usage: USAGE } };
    const last = { type: "message_delta", delta: stop, usage: { output_tokens: 5 } };
    for (const event of [first, ...content.flatMap(toEvents), last, { type: "message_stop" }])
      response.write(toFrame(event));
    response.end();
  });
}

function toFrame(event: object): Buffer {
  return encodeAwsFrame("event", "chunk", { bytes: Buffer.from(JSON.stringify(event)).toString("base64") });
}

/** The events of a block, in several pieces. */
function toEvents(block: Block, index: number): readonly object[] {
  const delta = (type: string, field: string, value: unknown) => ({
    type: "content_block_delta",
    index,
    delta: { type, [field]: value },
  });
  const start = (content_block: object) => ({ type: "content_block_start", index, content_block });
  const stop = { type: "content_block_stop", index };
  if (block.type === "text") {
    const text = String(block.text);
    const pieces = [text.slice(0, 3), text.slice(3)].map((piece) => delta("text_delta", "text", piece));
    return [start({ type: "text", text: "" }), ...pieces, stop];
  }
  if (block.type === "thinking") {
    const thought = delta("thinking_delta", "thinking", block.thinking);
    const signature = delta("signature_delta", "signature", block.signature);
    return [start({ type: "thinking", thinking: "", signature: "" }), thought, signature, stop];
  }
  if (block.type !== "tool_use") return [start(block), stop];
  const json = JSON.stringify(block.input);
  const pieces = [json.slice(0, 5), json.slice(5)].map((one) =>
    delta("input_json_delta", "partial_json", one),
  );
  return [start({ ...block, input: {} }), ...pieces, stop];
}

function startConverse(baseUrl: string, more: Omit<TestGatewayOptions, "upstream"> = {}) {
  return startGateway({ upstream: [{ name: "bedrock", baseUrl, apis: ["anthropic"] }], ...more });
}

async function converse(gateway: TestGateway, body: object, verb = "converse", model = MODEL) {
  const answer = await ask(gateway, { path: `${model}/${verb}`, body, headers: HEADERS });
  return {
    ...answer,
    json: verb === "converse" || answer.status !== 200 ? JSON.parse(answer.text) : undefined,
  };
}

/** The events of a reply in Converse's frames, whose checksums must be right. */
function readFrames(body: Buffer): readonly { readonly name: string; readonly payload: Json }[] {
  return new AwsFrameSplitter().push(body).map(({ bytes, payload }) => {
    // The first header says whether it is an event, and which.
    const at = 13 + bytes.readUInt8(12);
    const type = bytes.toString("utf8", 14, at - 5) === "event" ? "event" : "exception";
    const name = bytes.toString("utf8", at + 3, at + 3 + bytes.readUInt16BE(at + 1));
    expect(encodeAwsFrame(type, name, JSON.parse(payload))).toEqual(bytes);
    return { name, payload: JSON.parse(payload) };
  });
}

async function readLog(gateway: TestGateway) {
  const threads = await threadsOf(gateway, "main");
  expect(threads).toHaveLength(1);
  const log = await logOf(await gateway.kernel.session(threads[0]?.id));
  return log.map(({ message }) => `${message.role}: ${message.parts.map(({ type }) => type).join(" ")}`);
}

const user = (...content: readonly object[]) => ({ role: "user", content });
const result = (...content: readonly object[]) => ({
  toolResult: { toolUseId: "toolu_1", content, status: "success" },
});

describe("Bedrock's Converse", () => {
  test("a Converse request reaches Bedrock as invoke with all its fields, and is answered in its own form", async () => {
    const upstream = await startBedrock(() => [THOUGHT, SECRET, { type: "text", text: "Looking." }, CALL]);
    const gateway = await startConverse(upstream.url);
    const schema = { type: "object", properties: { city: { type: "string" } } };
    const body = {
      messages: [
        user(
          { text: "How warm is it?" },
          { image: { format: "png", source: { bytes: "aW1n" } } },
          { document: { format: "pdf", name: "map", source: { bytes: "JVBERg==" }, context: "of Bern" } },
          { document: { format: "md", name: "notes", source: { bytes: "R3LDvGV6aQ==" } } },
          { cachePoint: { type: "default" } },
        ),
      ],
      system: [{ text: "Be brief." }, { cachePoint: { type: "default", ttl: "1h" } }],
      inferenceConfig: { maxTokens: 900, temperature: 0.5, topP: 0.9, stopSequences: ["END"] },
      toolConfig: {
        tools: [
          { toolSpec: { name: "weather", description: "Asks.", inputSchema: { json: schema } } },
          { cachePoint: { type: "default" } },
        ],
        toolChoice: { tool: { name: "weather" } },
      },
      additionalModelRequestFields: { top_k: 5, tools: [{ type: "bash_20250124", name: "bash" }] },
      additionalModelResponseFieldPaths: ["/id", "/missing"],
      outputConfig: { effort: "low" },
      requestMetadata: { team: "a" },
      performanceConfig: { latency: "optimized" },
      serviceTier: { type: "flex" },
    };
    const { status, json, header } = await converse(gateway, body);
    expect(status).toBe(200);
    expect(header("x-amzn-requestid")).toBe("r1");
    expect(json).toEqual({
      output: {
        message: {
          role: "assistant",
          content: [THOUGHT_IN_CONVERSE, SECRET_IN_CONVERSE, { text: "Looking." }, CALL_IN_CONVERSE],
        },
      },
      stopReason: "tool_use",
      usage: { inputTokens: 12, outputTokens: 5, totalTokens: 117, cacheReadInputTokens: 100 },
      metrics: { latencyMs: expect.any(Number) },
      additionalModelResponseFields: { id: "msg_0" },
    });
    const [heard] = upstream.heard;
    expect(heard?.url).toBe(`${MODEL}/invoke`);
    expect(heard?.header("authorization")).toBe("Bearer bedrock-key");
    expect(heard?.header("x-amzn-bedrock-request-metadata")).toBe('{"team":"a"}');
    expect(heard?.header("x-amzn-bedrock-performanceconfig-latency")).toBe("optimized");
    expect(heard?.header("x-amzn-bedrock-service-tier")).toBe("flex");
    const mark = { cache_control: { type: "ephemeral" } };
    const file = { type: "base64", media_type: "application/pdf", data: "JVBERg==" };
    const notes = { type: "text", media_type: "text/plain", data: "Grüezi" };
    expect(heard?.json).toEqual({
      anthropic_version: "bedrock-2023-05-31",
      max_tokens: 900,
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ["END"],
      top_k: 5,
      output_config: { effort: "low" },
      tool_choice: { type: "tool", name: "weather" },
      tools: [
        { name: "weather", description: "Asks.", input_schema: schema, ...mark },
        { type: "bash_20250124", name: "bash" },
      ],
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
      messages: [
        user(
          { type: "text", text: "How warm is it?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "aW1n" } },
          { type: "document", source: file, title: "map", context: "of Bern" },
          { type: "document", source: notes, title: "notes", ...mark },
        ),
      ],
    });
  });

  test("a Converse conversation with calls stays one log over turns and a restart, with nothing doubled", async () => {
    const upstream = await startBedrock((_, index) =>
      index % 2 === 0 ? [THOUGHT, SECRET, CALL] : [{ type: "text", text: "12 degrees." }],
    );
    const first = await startConverse(upstream.url);
    const messages: object[] = [user({ text: "How warm is Bern?" })];
    const answer = async (gateway: TestGateway) => {
      const { json } = await converse(gateway, { messages });
      messages.push(json.output.message);
    };
    await answer(first);
    messages.push(user(result({ json: { degrees: 12, long: 12345 } })));
    await answer(first);
    await first.close();
    const second = await startConverse(upstream.url, { path: first.path });
    messages.push(user({ text: "And Basel?" }));
    await answer(second);
    messages.push(user(result({ text: "14" })));
    await answer(second);
    expect(await readLog(second)).toEqual([
      "user: text",
      "assistant: reasoning reasoning tool-call",
      "tool: tool-result",
      "assistant: text",
      "user: text",
      "assistant: reasoning reasoning tool-call",
      "tool: tool-result",
      "assistant: text",
    ]);
    const [, sent] = upstream.heard[1]?.json.messages ?? [];
    expect(sent).toEqual({ role: "assistant", content: [THOUGHT, SECRET, CALL] });
    expect(upstream.heard[0]?.json.max_tokens).toBe(128_000);
  });

  test("a Converse stream has Converse's own events, and long numbers keep all digits", async () => {
    const upstream = await startBedrock(() => [THOUGHT, SECRET, { type: "text", text: "Looking." }, CALL]);
    const gateway = await startConverse(upstream.url);
    const body = `{"messages":[{"role":"user","content":[{"toolUse":{"toolUseId":"t","name":"n","input":{"id":12345678901234567890}}}]}],"inferenceConfig":null}`;
    const path = `${MODEL}/converse-stream`;
    const answer = await ask(gateway, {
      path,
      body,
      headers: { ...HEADERS, "content-type": "application/json" },
    });
    expect(answer.header("content-type")).toBe("application/vnd.amazon.eventstream");
    expect(upstream.heard[0]?.url).toBe(`${MODEL}/invoke-with-response-stream`);
    expect(upstream.heard[0]?.body.toString()).toContain('"id":12345678901234567890');
    const delta = (contentBlockIndex: number, value: object) => ({
      name: "contentBlockDelta",
      payload: { delta: value, contentBlockIndex },
    });
    const stop = (contentBlockIndex: number) => ({
      name: "contentBlockStop",
      payload: { contentBlockIndex },
    });
    const begin = { start: { toolUse: { toolUseId: "toolu_1", name: "weather" } }, contentBlockIndex: 3 };
    const json = JSON.stringify(CALL.input);
    const usage = { inputTokens: 12, outputTokens: 5, totalTokens: 117, cacheReadInputTokens: 100 };
    expect(readFrames(answer.body)).toEqual([
      { name: "messageStart", payload: { role: "assistant" } },
      delta(0, { reasoningContent: { text: "I look." } }),
      delta(0, { reasoningContent: { signature: "c2ln" } }),
      stop(0),
      delta(1, SECRET_IN_CONVERSE),
      stop(1),
      delta(2, { text: "Loo" }),
      delta(2, { text: "king." }),
      stop(2),
      { name: "contentBlockStart", payload: begin },
      delta(3, { toolUse: { input: json.slice(0, 5) } }),
      delta(3, { toolUse: { input: json.slice(5) } }),
      stop(3),
      { name: "messageStop", payload: { stopReason: "tool_use" } },
      { name: "metadata", payload: { usage, metrics: { latencyMs: expect.any(Number) } } },
    ]);
  });

  test("Converse passes on Bedrock's errors, before and within a stream, and reports a part that it cannot express", async () => {
    let failure = "refused";
    const upstream = await startUpstream((heard, response) => {
      if (failure === "refused") {
        response.writeHead(429, { "x-amzn-ErrorType": "ThrottlingException" });
        return void response.end('{"message":"Too many requests"}');
      }
      if (heard.url.endsWith("/invoke")) {
        const content = [{ type: "server_tool_use", id: "s", name: "web_search", input: {} }];
        return void response.end(JSON.stringify({ type: "message", role: "assistant", content }));
      }
      response.setHeader("content-type", "application/vnd.amazon.eventstream");
      response.write(toFrame({ type: "message_start", message: {} }));
      const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded." } };
      if (failure === "within") return void response.end(toFrame(error));
      response.end(encodeAwsFrame("exception", "throttlingException", { message: "Slower." }));
    });
    const gateway = await startConverse(upstream.url);
    const body = { messages: [user({ text: "Hello." })] };
    for (const verb of ["converse", "converse-stream"]) {
      const { status, json, header } = await converse(gateway, body, verb);
      expect([status, json, header("x-amzn-errortype")]).toEqual([
        429,
        { message: "Too many requests" },
        "ThrottlingException",
      ]);
    }
    failure = "later";
    const cut = await converse(gateway, body, "converse-stream");
    expect(readFrames(cut.body).map(({ name }) => name)).toEqual(["messageStart", "throttlingException"]);
    failure = "within";
    const told = await converse(gateway, body, "converse-stream");
    expect(readFrames(told.body).at(-1)).toMatchObject({ payload: { message: "Overloaded." } });
    const odd = await converse(gateway, body);
    expect([odd.status, odd.header("x-amzn-errortype")]).toEqual([424, "ModelErrorException"]);
    expect(odd.json.message).toContain("server_tool_use");
  });

  test("Converse shortens a conversation that outgrows its window, and keeps calls with their results", async () => {
    let call = 0;
    const upstream = await startBedrock(() => [{ ...CALL, id: `c${++call}`, input: { call } }]);
    const config = { models: { "us.anthropic.claude-opus-4-8-v1:0": { window: 32_000 } } };
    const gateway = await startConverse(upstream.url, { config });
    const messages: object[] = [user({ text: "Go through all files." })];
    for (let turn = 0; turn < 20; turn++) {
      const { json } = await converse(gateway, { messages, inferenceConfig: { maxTokens: 500 } });
      messages.push(json.output.message);
      const text = `line ${turn} of the output\n`.repeat(450);
      messages.push(user({ toolResult: { toolUseId: `c${call}`, content: [{ text }] } }));
    }
    const last = upstream.heard.at(-1);
    expect(last?.body.length).toBeLessThan(JSON.stringify(messages).length / 2);
    const sent: readonly { readonly content: readonly Block[] }[] = last?.json.messages;
    for (const [index, { content }] of sent.entries()) {
      const results = content.flatMap((block) => block.tool_use_id ?? []);
      const before = sent[index - 1]?.content.flatMap((block) => (block.type === "tool_use" ? block.id : []));
      if (results.length > 0) expect(results).toEqual(before);
    }
    expect(JSON.stringify(sent)).toContain("Go through all files.");
    const [main] = await threadsOf(gateway, "main");
    expect(await lineOf(await gateway.kernel.session(main?.id))).toHaveLength(40);
  });

  const hello = [user({ text: "Hello." })];
  const image = { image: { format: "png", source: { s3Location: { uri: "s3://b/k" } } } };
  const word = { document: { format: "docx", name: "d", source: { bytes: "aGk=" } } };
  const latin = { document: { format: "csv", name: "d", source: { bytes: "/w==" } } };
  test.each([
    ["a guardrail", { messages: hello, guardrailConfig: {} }, "X-Amzn-Bedrock-Guardrail"],
    ["a prompt's variables", { messages: hello, promptVariables: {} }, "promptVariables"],
    ["a field that it does not know", { messages: hello, constructor: 1 }, "constructor"],
    ["bytes elsewhere", { messages: [user(image)] }, "send the bytes"],
    ["a video", { messages: [user({ video: {} })] }, "/model/MODEL/invoke"],
    ["a document of Word's", { messages: [user(word)] }, "pdf"],
    ["a text that is not UTF-8", { messages: [user(latin)] }, "UTF-8"],
    ["a cache point at the start", { messages: [user({ cachePoint: {} })] }, "cachePoint"],
    ["two members", { messages: [user({ text: "a", image: {} })] }, "exactly one member"],
    ["no messages", {}, "messages is no list"],
    ["a model in the body", { messages: hello, additionalModelRequestFields: { model: "x" } }, "model"],
    ["a path inside", { messages: hello, additionalModelResponseFieldPaths: ["/a/b"] }, "/stop_sequence"],
    ["no object", [], "no JSON object"],
    ["other characters for a header", { messages: hello, requestMetadata: { team: "ä" } }, "ASCII"],
    ["a line break for a header", { messages: hello, serviceTier: { type: "a\r\nb: c" } }, "ASCII"],
  ])("Converse refuses %s with an explanation and sends nothing", async (_, body, words) => {
    const upstream = await startBedrock(() => []);
    const gateway = await startConverse(upstream.url);
    const { status, json, header } = await converse(gateway, body);
    expect([status, header("x-amzn-errortype")]).toEqual([400, "ValidationException"]);
    expect(json).toEqual({ message: expect.stringContaining(words) });
    expect(upstream.heard).toHaveLength(0);
  });

  test.each([
    ["amazon.nova-pro-v1%3A0", 501],
    ["us.meta.llama3-3-70b-instruct-v1%3A0", 501],
    ["arn%3Aaws%3Abedrock%3Aus-east-1%3A%3Afoundation-model%2Fcohere.command-r-v1%3A0", 501],
    ["arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aprompt%2FABC%3A1", 501],
    ["arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fabc", 200],
    ["global.anthropic.claude-sonnet-4-5-20250929-v1%3A0", 200],
    ["arn%3Aaws%3Abedrock%3Aus-east-1%3A%3Afoundation-model%2Fanthropic.claude-v2%3A1", 200],
  ])("Converse answers a request for the model %s with %i", async (model, expected) => {
    const upstream = await startBedrock(() => [{ type: "text", text: "Fine." }]);
    const gateway = await startConverse(upstream.url);
    const { status } = await converse(gateway, { messages: hello }, "converse", `/model/${model}`);
    expect([status, upstream.heard.length]).toEqual([expected, expected === 200 ? 1 : 0]);
  });

  test("Converse accepts a compressed body, and asks Bedrock for an uncompressed reply", async () => {
    const upstream = await startBedrock(() => [{ type: "text", text: "Fine." }]);
    const gateway = await startConverse(upstream.url);
    const packing = {
      "content-encoding": "gzip",
      "content-type": "application/json",
      "accept-encoding": "gzip",
    };
    const body = gzipSync(JSON.stringify({ messages: hello }));
    const { status } = await ask(gateway, {
      path: `${MODEL}/converse`,
      body,
      headers: { ...HEADERS, ...packing },
    });
    const [heard] = upstream.heard;
    expect([status, heard?.header("content-encoding"), heard?.header("accept-encoding")]).toEqual([
      200,
      undefined,
      undefined,
    ]);
    expect(heard?.json.messages).toEqual([user({ type: "text", text: "Hello." })]);
  });

  test("Converse reports a wrong method and a gateway without Bedrock in the form of Converse", async () => {
    const upstream = await startBedrock(() => []);
    const gateway = await startGateway({ upstream: upstream.url });
    const wrong = await ask(gateway, { path: `${MODEL}/converse`, method: "GET" });
    expect([wrong.status, wrong.header("x-amzn-errortype")]).toEqual([405, "ValidationException"]);
    const { status, json, header } = await converse(gateway, { messages: hello }, "converse-stream");
    expect([status, header("x-amzn-errortype")]).toEqual([404, "ResourceNotFoundException"]);
    expect(json.message).toContain("https://bedrock-runtime.REGION.amazonaws.com");
    const missing = await ask(gateway, { path: `${MODEL}/apply-guardrail`, body: {} });
    expect([missing.status, missing.header("x-amzn-errortype")]).toEqual([404, "ResourceNotFoundException"]);
    expect(JSON.parse(missing.text).message).toMatch(/apply-guardrail.*docs\/gateway\.md/);
  });
});
