import { describe, expect, test } from "vitest";
import { findViolations } from "../../../src/server/gateway/outgoing/check-rules.ts";
import { toObject } from "../../../src/wire/fields.ts";
import { TestAgent } from "../../support/agent.ts";
import { ask, logOf, startGateway, threadsOf } from "../../support/gateway.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";
import { proofTest } from "../../support/proof.ts";
import { beginStream, behave, formatEvent, says, startUpstream } from "../../support/upstream.ts";
import { output } from "./limited.ts";

const CALLS = [1, 2].map((n) => ({ id: "", name: "run_command", input: { n } }));

const GENERATE = "/v1beta/models/gemini-3-pro:generateContent";

describe("Google's API", () => {
  test("a request to Google's API goes through unchanged, and the log keeps thought signatures", async () => {
    const upstream = await startUpstream(
      says((_, index) =>
        index === 0
          ? { text: "Reading.", toolCalls: [{ id: "a1", name: "read_file", input: { path: "a.ts" } }] }
          : { text: "Fine.", usage: { input: 90, output: 4, cacheRead: 10 } },
      ),
    );
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, "google");
    const { calls } = await agent.say("Read a.ts.");
    await agent.hand(calls, "let a;");
    await agent.say("Thanks.");
    expect(upstream.heard.map(({ url }) => url)).toEqual(
      Array(3).fill("/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse"),
    );
    expect(upstream.heard[1]?.body.toString()).toContain('"thoughtSignature":"c2lnbmF0dXJl"');
    const threads = await threadsOf(gateway, "main");
    expect(threads).toHaveLength(1);
    const log = await logOf(await gateway.kernel.session(threads[0]?.id));
    expect(log.map(({ message }) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(JSON.stringify(log[1]?.message.meta)).toContain("c2lnbmF0dXJl");
    expect(log.at(-1)?.message.model).toBe("gemini-3-pro");
  });

  test("an unstreamed reply of Google's API is stored", async () => {
    const upstream = await startUpstream(says("Fine."));
    const gateway = await startGateway({ upstream: upstream.url });
    const body = { contents: [{ role: "user", parts: [{ text: "Hello." }] }] };
    const { status, text } = await ask(gateway, { path: GENERATE, body });
    expect([status, JSON.parse(text).candidates[0].content.parts]).toEqual([200, [{ text: "Fine." }]]);
    const [main] = await threadsOf(gateway, "main");
    const log = await logOf(await gateway.kernel.session(main?.id));
    expect(log.at(-1)?.message.parts).toEqual([{ type: "text", text: "Fine." }]);
  });

  proofTest(
    "a conversation with Google's API that outgrows its window is shortened, and calls keep their responses",
    async () => {
      let call = 0;
      const upstream = await startUpstream(
        says(() => ({ toolCalls: [{ id: `c${++call}`, name: "run_command", input: { n: call } }] })),
      );
      const gateway = await startGateway({
        upstream: upstream.url,
        config: { models: { "gemini-3-pro": { window: 32_000 } } },
      });
      const agent = new TestAgent(gateway, "google");
      let reply = await agent.say("Go through all files.");
      for (let turn = 0; turn < 60; turn++)
        reply = await agent.hand(reply.calls, `line ${turn} of the output\n`.repeat(150));
      const last = upstream.heard.at(-1);
      expect(last?.body.length).toBeLessThan(JSON.stringify(agent.body()).length / 2);
      type Parts = readonly Readonly<Record<string, { readonly id: string } | undefined>>[];
      const contents: readonly { readonly parts: Parts }[] = last?.json.contents;
      for (const [index, { parts }] of contents.entries()) {
        const responses = parts.flatMap(({ functionResponse }) => functionResponse?.id ?? []);
        const before = contents[index - 1]?.parts.flatMap(({ functionCall }) => functionCall?.id ?? []);
        if (responses.length > 0) expect(responses).toEqual(before);
      }
      expect(JSON.stringify(contents)).toContain("Go through all files.");
    },
  );

  test("memories go into the system instruction of Google's API, and later memories into the newest message", async () => {
    const upstream = await startUpstream(says("Fine."));
    const gateway = await startGateway({ upstream: upstream.url });
    await gateway.kernel.memories().remember("Answer in German.", { by: "user" });
    const agent = new TestAgent(gateway, "google");
    await agent.say("Hello.");
    expect(upstream.heard[0]?.json.systemInstruction.parts.at(-1).text).toContain("Answer in German.");
    await gateway.kernel.memories().remember("The port is 7781.", { by: "user" });
    await agent.say("Go on.");
    expect(upstream.heard[1]?.json.systemInstruction).toEqual(upstream.heard[0]?.json.systemInstruction);
    expect(JSON.stringify(upstream.heard[1]?.json.contents.at(-1))).toContain("The port is 7781.");
  });

  test("memories follow the newest message where the system prompt is in a cached content of Google's", async () => {
    const upstream = await startUpstream(says("Fine."));
    const gateway = await startGateway({ upstream: upstream.url });
    await gateway.kernel.memories().remember("Answer in German.", { by: "user" });
    for (const begin of [{}, { cachedContent: "cachedContents/a1" }]) {
      const agent = new TestAgent(gateway, "google");
      Object.assign(agent.fields, begin);
      await agent.say("Hello.");
      Object.assign(agent.fields, { cachedContent: "cachedContents/a1", systemInstruction: undefined });
      await agent.say("Go on.");
      await agent.say("And on.");
    }
    const cached = upstream.heard.filter(({ json }) => json.cachedContent !== undefined);
    expect(cached).toHaveLength(5);
    for (const { json } of cached) {
      expect(JSON.stringify(json.systemInstruction ?? "")).not.toContain("Answer in German.");
      expect(JSON.stringify(json.contents).split("Answer in German.")).toHaveLength(2);
    }
  });

  test("a request to Google's API with underscores in its fields continues its conversation, and keeps its pairs", async () => {
    let call = 0;
    const upstream = await startUpstream(
      says(() => ({ toolCalls: [{ id: "", name: "run_command", input: { n: ++call } }] })),
    );
    const gateway = await startGateway({
      upstream: upstream.url,
      config: { models: { "gemini-3-pro": { window: 24_000 } }, recall: { offer: "always" } },
    });
    const contents: object[] = [{ role: "user", parts: [{ text: "Go through all files." }] }];
    for (let turn = 0; turn < 12; turn++) {
      const tools = [{ function_declarations: [{ name: "run_command" }] }];
      const { status } = await ask(gateway, { path: GENERATE, body: { contents, tools } });
      expect(status).toBe(200);
      const name = "run_command";
      const response = { output: `line ${turn} of the output\n`.repeat(400) };
      contents.push(
        {
          role: "model",
          parts: [{ function_call: { name, args: { n: call } }, thought_signature: "c2lnbmF0dXJl" }],
        },
        { role: "user", parts: [{ function_response: { name, response } }] },
      );
    }
    expect(await threadsOf(gateway, "main")).toHaveLength(1);
    const last = upstream.heard.at(-1)?.json;
    expect(JSON.stringify(last).length).toBeLessThan(JSON.stringify(contents).length / 2);
    expect(last.tools).toHaveLength(1);
    expect(JSON.stringify(last.tools)).toMatch(/run_command.*longhaul_recall/);
    expect(findViolations("google", last.contents)).toEqual([]);
  });

  test("pictures of a function's response are stored as files, and leave the window with its text", async () => {
    const upstream = await startUpstream(says("Fine."));
    const gateway = await startGateway({
      upstream: upstream.url,
      config: { models: { "gemini-3-pro": { window: 24_000 } } },
    });
    const name = "read_file";
    const contents: object[] = [{ role: "user", parts: [{ text: "Read the page again and again." }] }];
    for (let turn = 1; turn <= 8; turn++) {
      const id = `c${turn}`;
      const response = { output: output(turn, 12_000), error: null };
      const parts = [{ inlineData: { mimeType: "image/png", data: PIXEL_PNG } }];
      contents.push(
        { role: "model", parts: [{ functionCall: { id, name, args: { path: "a.html" } } }] },
        { role: "user", parts: [{ functionResponse: { id, name, response, parts } }] },
      );
      await ask(gateway, { path: GENERATE, body: { contents } });
    }
    const [main] = await threadsOf(gateway, "main");
    const log = await logOf(await gateway.kernel.session(main?.id));
    const [stored] = log.flatMap(({ message }) => message.parts.filter(({ type }) => type === "tool-result"));
    expect(stored).toMatchObject({ output: [{ type: "text" }, { type: "blob", mime: "image/png" }] });
    expect(stored).not.toHaveProperty("isError");
    const sent = upstream.heard.at(-1)?.json.contents;
    const pictures = JSON.stringify(sent).split("inlineData").length - 1;
    expect(pictures).toBeGreaterThan(0);
    expect(pictures).toBeLessThan(8);
    expect(sent.at(-1)).toEqual(contents.at(-1));
  });

  test("a question with a fixed form of reply and its own prompt is no conversation with Google's API either", async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url, config: { recall: { offer: "always" } } });
    const contents = [{ role: "user", parts: [{ text: "Rename the function in a.ts." }] }];
    await new TestAgent(gateway, "google").send();
    for (const generationConfig of [
      { responseMimeType: "application/json", responseJsonSchema: { type: "object" } },
      { responseSchema: { type: "OBJECT" } },
    ]) {
      const systemInstruction = {
        parts: [{ text: "Classify how complex the request is. Answer in JSON only." }],
      };
      await ask(gateway, { path: GENERATE, body: { contents, systemInstruction, generationConfig } });
    }
    const kinds = (await threadsOf(gateway)).map(({ meta }) => toObject(meta?.gateway)?.kind);
    expect(kinds.sort()).toEqual(["aside", "aside", "main"]);
    for (const { body } of upstream.heard.slice(1)) expect(body.toString()).not.toContain("longhaul_recall");
  });

  test("a client that gives ids to results only has its window edited, in a conversation that it brings too", async () => {
    const upstream = await startUpstream(says(() => ({ toolCalls: CALLS })));
    const gateway = await startGateway({
      upstream: upstream.url,
      config: { models: { "gemini-3-pro": { window: 16_000 } } },
    });
    const contents: object[] = [{ role: "user", parts: [{ text: "Go through all files." }] }];
    for (let turn = 0; turn < 14; turn++) {
      const parts = CALLS.map(({ name, input }, at) => ({
        call: { functionCall: { name, args: input } },
        result: {
          functionResponse: {
            id: `${name}-${turn}-${at}`,
            name,
            response: { output: output(2 * turn + at, 3_000) },
          },
        },
      }));
      contents.push(
        { role: "model", parts: parts.map(({ call }) => call) },
        { role: "user", parts: parts.map(({ result }) => result) },
      );
      if (turn > 3) await ask(gateway, { path: GENERATE, body: { contents } });
    }
    for (const { json } of upstream.heard) expect(findViolations("google", json.contents)).toEqual([]);
    expect(upstream.heard.at(-1)?.body.length).toBeLessThan(JSON.stringify(contents).length / 2);
    const [main] = await threadsOf(gateway, "main");
    const log = await logOf(await gateway.kernel.session(main?.id));
    const ids = (type: string) =>
      log.flatMap(({ message }) =>
        message.parts.flatMap((part) => (part.type === type && "callId" in part ? [part.callId] : [])),
      );
    expect(new Set(ids("tool-result"))).toEqual(new Set(ids("tool-call")));
  });

  test("the remains of an erased call have the signature that Google takes for a call that it did not make", async () => {
    const upstream = await startUpstream(says(() => ({ toolCalls: CALLS })));
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, "google");
    const { calls } = await agent.say("Run both.");
    const next = await agent.hand(calls, "one", "two");
    const [main] = await threadsOf(gateway, "main");
    await (await gateway.kernel.session(main?.id)).redact(2);
    await agent.hand(next.calls, "three", "four");
    const [, erased] = upstream.heard.at(-1)?.json.contents ?? [];
    expect(erased.parts.slice(1)).toEqual(
      CALLS.map(({ name }) => ({
        functionCall: { name, args: {} },
        thoughtSignature: "skip_thought_signature_validator",
      })),
    );
  });

  test("the arguments of a call that Google streams in pieces are stored whole, with the signature of the call", async () => {
    const calls = [
      { name: "read_file", willContinue: true },
      { partialArgs: [{ jsonPath: "$.path", stringValue: "src/", willContinue: true }], willContinue: true },
      { partialArgs: [{ jsonPath: "$.path", stringValue: "a.ts" }], willContinue: true },
      { partialArgs: [{ jsonPath: "$.lines[1].from", numberValue: 7 }], willContinue: true },
      {},
    ];
    const upstream = await startUpstream((_, response) => {
      beginStream(response);
      for (const [index, functionCall] of calls.entries()) {
        const part = { functionCall, ...(index === 0 && { thoughtSignature: "c2ln" }) };
        const content = { role: "model", parts: [part] };
        const end = index === calls.length - 1 && { finishReason: "STOP" };
        response.write(formatEvent({ data: { candidates: [{ content, ...end }] } }));
      }
      response.end();
    });
    const gateway = await startGateway({ upstream: upstream.url });
    await new TestAgent(gateway, "google").send({
      body: { contents: [{ role: "user", parts: [{ text: "Read." }] }] },
    });
    const [main] = await threadsOf(gateway, "main");
    const [, reply] = await logOf(await gateway.kernel.session(main?.id));
    expect(reply?.message.parts).toEqual([
      expect.objectContaining({
        type: "tool-call",
        name: "read_file",
        input: { path: "src/a.ts", lines: [null, { from: 7 }] },
      }),
    ]);
    expect(JSON.stringify(reply?.message.meta)).toContain("c2ln");
  });

  test("a count for Google's API counts the request that would be sent, and estimates if the provider cannot count", async () => {
    let status = 200;
    const upstream = await startUpstream((_, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ totalTokens: 900_000, cachedContentTokenCount: 3 }));
    });
    const gateway = await startGateway({
      upstream: upstream.url,
      config: { models: { "gemini-3-pro": { window: 32_000 } } },
    });
    const body = { contents: [{ role: "user", parts: [{ text: "Hello." }] }] };
    for (const path of [
      "/v1beta/models/gemini-3-pro:countTokens",
      "/v1/projects/p/locations/us-east5/publishers/google/models/gemini-3-pro:countTokens",
    ]) {
      const { totalTokens, cachedContentTokenCount } = JSON.parse((await ask(gateway, { path, body })).text);
      expect(totalTokens).toBeLessThanOrEqual(32_000);
      expect(cachedContentTokenCount).toBe(3);
      expect(upstream.heard.at(-1)).toMatchObject({ url: path, json: body });
    }
    status = 404;
    const estimated = await ask(gateway, { path: "/v1beta/models/gemini-3-pro:countTokens", body });
    expect(JSON.parse(estimated.text).totalTokens).toBeLessThan(100);
  });

  test("recall tools join the client's functions for Google's API, and their calls run unseen", async () => {
    const upstream = await startUpstream(
      says((_, index) =>
        index === 0
          ? { text: "Looking.", toolCalls: [{ id: "r1", name: "longhaul_recall", input: { query: "port" } }] }
          : { text: "It is 7781." },
      ),
    );
    const gateway = await startGateway({ upstream: upstream.url, config: { recall: { tools: "always" } } });
    await gateway.kernel.memories().remember("The port is 7781.", { by: "user" });
    const agent = new TestAgent(gateway, "google");
    const reply = await agent.say("Which port?");
    expect([reply.text, reply.calls]).toEqual(["Looking.It is 7781.", []]);
    const [first, second] = upstream.heard;
    expect(first?.json.tools).toHaveLength(1);
    const names = first?.json.tools[0].functionDeclarations.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(["read_file", "longhaul_recall"]));
    const parts = second?.json.contents.slice(-2).map((content: { parts: unknown }) => content.parts);
    expect(JSON.stringify(parts[0])).toContain("longhaul_recall");
    expect(JSON.stringify(parts[1])).toContain('"functionResponse":{"id":"r1","name":"longhaul_recall"');
    const whole = await ask(gateway, {
      path: "/v1beta/models/gemini-3-pro:streamGenerateContent",
      body: { ...agent.body(), contents: [{ role: "user", parts: [{ text: "As a list." }] }] },
    });
    expect(whole.status).toBe(200);
    expect(upstream.heard.at(-1)?.body.toString()).not.toContain("longhaul_recall");
  });

  test("a call beside one of the gateway's keeps the signature that both have, in every form of reply", async () => {
    const parts = [
      {
        functionCall: { id: "r1", name: "longhaul_recall", args: { query: "port" } },
        thoughtSignature: "c2ln",
      },
      { functionCall: { id: "f1", name: "read_file", args: {} } },
      { functionCall: { id: "f2", name: "read_file", args: {} } },
    ];
    const upstream = await startUpstream(({ url }, response) => {
      const bodies = parts.map((part) => ({ candidates: [{ content: { role: "model", parts: [part] } }] }));
      const usageMetadata = { promptTokenCount: 9 };
      const end = {
        candidates: [{ content: { role: "model", parts: [] }, finishReason: "STOP" }],
        usageMetadata,
      };
      const whole = { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] };
      if (url.endsWith(":generateContent")) return void response.end(JSON.stringify(whole));
      beginStream(response).end([...bodies, end].map((data) => formatEvent({ data })).join(""));
    });
    const gateway = await startGateway({ upstream: upstream.url, config: { recall: { offer: "always" } } });
    const agent = new TestAgent(gateway, "google");
    agent.elements.push(...agent.words("Read both."));
    const { text } = await agent.send({ path: GENERATE });
    const streamed = await agent.next();
    for (const shown of [streamed.elements[0]?.parts, JSON.parse(text).candidates[0].content.parts])
      expect(shown).toEqual([{ ...parts[1], thoughtSignature: "c2ln" }, parts[2]]);
  });

  test("a round with a call of the gateway's goes back to Google without the empty text that ends its stream", async () => {
    const upstream = await startUpstream((heard, response, index) => {
      if (index > 0) return says("It is 7781.")(heard, response, index);
      const functionCall = { id: "r1", name: "longhaul_recall", args: { query: "port" } };
      const chunk = (part: object, end = {}) => ({
        data: { candidates: [{ content: { role: "model", parts: [part] }, ...end }] },
      });
      const chunks = [
        chunk({ functionCall, thoughtSignature: "c2ln" }),
        chunk({ text: "" }, { finishReason: "STOP" }),
      ];
      beginStream(response).end(chunks.map(formatEvent).join(""));
    });
    const gateway = await startGateway({ upstream: upstream.url, config: { recall: { offer: "always" } } });
    expect((await new TestAgent(gateway, "google").say("Which port?")).text).toBe("It is 7781.");
    expect(upstream.heard[1]?.json.contents.at(-2).parts).toEqual([
      expect.objectContaining({ thoughtSignature: "c2ln" }),
    ]);
  });

  test("other endpoints of Google's API are forwarded unchanged: models, embeddings, cached contents", async () => {
    const upstream = await startUpstream((_, response) => void response.end("{}"));
    const gateway = await startGateway({ upstream: upstream.url });
    const body = { contents: [] };
    const paths = [
      "/v1beta/models/gemini-embedding-001:batchEmbedContents",
      "/v1beta/cachedContents",
      "/v1beta/interactions/int_1/cancel",
      "/v1/projects/p/locations/us-east5/publishers/google/models/text-embedding:predict",
    ];
    for (const path of paths)
      expect(await ask(gateway, { path, body })).toMatchObject({ status: 200, text: "{}" });
    expect(upstream.heard.map(({ url }) => url)).toEqual(paths);
    expect(upstream.heard[0]?.json).toEqual(body);
    expect((await ask(gateway, { path: "/v1beta/models", method: "GET" })).status).toBe(200);
  });

  test("the gateway reports its errors in the form of Google's API, and passes the provider's errors on", async () => {
    const upstream = await startUpstream((heard, response) =>
      behave(heard, response, { type: "error", kind: "bad-request" }),
    );
    const gateway = await startGateway({ upstream: upstream.url });
    const body = { contents: [{ role: "user", parts: [{ text: "Hello." }] }] };
    const passed = await ask(gateway, { path: GENERATE, body });
    expect([passed.status, JSON.parse(passed.text).error.status]).toEqual([400, "INVALID_ARGUMENT"]);
    const wrong = await ask(gateway, { path: GENERATE, method: "GET" });
    expect([wrong.status, JSON.parse(wrong.text).error]).toEqual([
      405,
      expect.objectContaining({ code: 405 }),
    ]);
    const keyed = await ask(gateway, { path: `${GENERATE}?key=abc`, body });
    expect([keyed.status, JSON.parse(keyed.text).error.status]).toEqual([400, "INVALID_ARGUMENT"]);
    const lost = await ask(gateway, { path: "/nowhere", body, headers: { "x-goog-api-key": "abc" } });
    expect([lost.status, JSON.parse(lost.text).error.status]).toEqual([404, "NOT_FOUND"]);
    const foreign = await ask(gateway, { path: "/api/generate", body });
    expect(foreign.status).toBe(501);
    expect(foreign.text).toContain("docs/gateway.md");
  });
});
