import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_SAVINGS } from "../../../../src/kernel/faces/window.ts";
import {
  type CallStart,
  formatTraceParent,
  openSpans,
  parseTraceParent,
} from "../../../../src/server/gateway/observe/spans.ts";
import { proofTest } from "../../../support/proof.ts";
import { startReceiver } from "./receiver.ts";

const CALL: CallStart = {
  api: "anthropic",
  model: "claude-x",
  upstream: "main",
  host: "api.anthropic.com",
  port: 443,
  request: "r1",
  session: "s1",
  isStreamed: true,
  input: '[{"role":"user"}]',
};
const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

describe("spans", () => {
  test("a span follows the conventions for generative AI", async () => {
    await using receiver = await startReceiver();
    const spans = await openSpans({
      endpoint: receiver.url,
      content: false,
      version: "1.2.3",
      environment: {},
    });
    const span = spans.start(CALL);
    span?.end({
      status: 200,
      usage: { inputTokens: 10, cacheReadTokens: 90, cacheWriteTokens: 5, outputTokens: 7, cost: 0.01 },
      responseModel: "claude-x-1",
      responseId: "msg_1",
      stopReason: "end_turn",
      tokensBefore: 200,
      tokensAfter: 105,
      spentDollars: 0.01,
      savings: { ...NO_SAVINGS, savedCost: -0.5, withoutCost: 2, extraWriteCost: 0.25 },
      output: '[{"role":"assistant"}]',
    });
    span?.end({ error: "late" });
    await spans.close();
    expect(receiver.paths).toEqual(["/v1/traces"]);
    expect(receiver.spans).toHaveLength(1);
    expect(receiver.spans[0]).toMatchObject({
      name: "chat claude-x",
      kind: 3,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-x",
        "gen_ai.response.model": "claude-x-1",
        "gen_ai.response.id": "msg_1",
        "gen_ai.response.finish_reasons": { values: [{ stringValue: "end_turn" }] },
        "gen_ai.usage.input_tokens": 105,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 90,
        "gen_ai.usage.cache_creation.input_tokens": 5,
        "gen_ai.conversation.id": "s1",
        "server.address": "api.anthropic.com",
        "server.port": 443,
        "longhaul.tokens.before": 200,
        "longhaul.tokens.after": 105,
        "longhaul.cost_dollars": 0.01,
        "longhaul.saved_dollars": -0.5,
        "longhaul.unedited_dollars": 2,
        "longhaul.extra_write_dollars": 0.25,
      },
      resource: { "service.name": "longhaul-gateway", "service.version": "1.2.3" },
    });
    expect(JSON.stringify(receiver.spans)).not.toContain("role");
    expect(receiver.spans[0]?.attributes).not.toHaveProperty("error.type");
  });

  test("a span continues the client's trace and passes it on", async () => {
    await using receiver = await startReceiver();
    const spans = await openSpans({
      endpoint: `${receiver.url}/v1/traces`,
      content: false,
      version: "1",
      environment: {},
    });
    const span = spans.start({ ...CALL, traceparent: PARENT, tracestate: "vendor=1" });
    expect(parseTraceParent(span?.traceparent)).toMatchObject({
      traceId: "0af7651916cd43dd8448eb211c80319c",
      flags: 1,
    });
    expect(span?.tracestate).toBe("vendor=1");
    span?.end({ status: 200 });
    await spans.close();
    expect(receiver.spans[0]).toMatchObject({
      traceId: "0af7651916cd43dd8448eb211c80319c",
      parentSpanId: "b7ad6b7169203331",
      spanId: parseTraceParent(span?.traceparent)?.spanId,
    });
  });

  test("a span of an unsampled trace is not sent, but passes the trace on", async () => {
    await using receiver = await startReceiver();
    const spans = await openSpans({ endpoint: receiver.url, content: false, version: "1", environment: {} });
    const span = spans.start({ ...CALL, traceparent: PARENT.replace(/01$/, "00") });
    expect(span?.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
    span?.end({ status: 200 });
    await spans.close();
    expect(receiver.spans).toEqual([]);
  });

  test("a span names the error of a failed request", async () => {
    await using receiver = await startReceiver();
    const spans = await openSpans({ endpoint: receiver.url, content: false, version: "1", environment: {} });
    spans
      .start({ ...CALL, api: "openai-chat", host: "127.0.0.1", upstream: "ollama" })
      ?.end({ status: 529, error: "529" });
    await spans.flush();
    expect(receiver.spans[0]).toMatchObject({
      status: { code: 2 },
      attributes: { "error.type": "529", "http.response.status_code": 529, "gen_ai.provider.name": "ollama" },
    });
    await spans.close();
  });

  test("a span has message content only if asked to", async () => {
    await using receiver = await startReceiver();
    const spans = await openSpans({ endpoint: receiver.url, content: true, version: "1", environment: {} });
    spans.start(CALL)?.end({ output: "x".repeat(100_000) });
    await spans.close();
    expect(receiver.spans[0]?.attributes["gen_ai.input.messages"]).toBe(CALL.input);
    expect(String(receiver.spans[0]?.attributes["gen_ai.output.messages"])).toHaveLength(65_536);
  });

  test("spans are off without an endpoint or if the environment disables them", async () => {
    const off = await openSpans({ content: false, version: "1", environment: {} });
    expect([off.isOn, off.start(CALL)]).toEqual([false, undefined]);
    await off.close();
    const disabled = { OTEL_SDK_DISABLED: "true", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" };
    expect((await openSpans({ content: false, version: "1", environment: disabled })).isOn).toBe(false);
  });

  test("spans go to the endpoint of the environment", async () => {
    await using receiver = await startReceiver();
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`, OTEL_SERVICE_NAME: "mine" };
    const spans = await openSpans({ content: false, version: "1", environment });
    spans.start(CALL)?.end({});
    await spans.close();
    expect(receiver.spans[0]?.resource).toMatchObject({ "service.name": "mine" });
  });

  proofTest("spans that nobody receives neither throw nor delay anything", async () => {
    const spans = await openSpans({
      endpoint: "http://127.0.0.1:9",
      content: false,
      version: "1",
      environment: {},
    });
    for (let count = 0; count < 3_000; count++) spans.start(CALL)?.end({});
    await spans.close();
    await spans.close();
  });
});

describe("a traceparent", () => {
  test.each([
    [PARENT, true],
    [PARENT.replace(/^00/, "ff"), false],
    [`${PARENT}-more`, false],
    [`${PARENT.replace(/^00/, "01")}-more`, true],
    [PARENT.replace(/[a-f0-9]{32}/, "0".repeat(32)), false],
    [PARENT.replace(/b7ad6b7169203331/, "0".repeat(16)), false],
    [PARENT.toUpperCase(), false],
    ["", false],
    [undefined, false],
  ])("the traceparent %s is valid: %s", (header, isOne) => {
    expect(parseTraceParent(header) !== undefined).toBe(isOne);
  });

  test("a formatted traceparent is read back unchanged", () => {
    const id = (digits: number) => fc.stringMatching(new RegExp(`^[1-9a-f][0-9a-f]{${digits - 1}}$`));
    fc.assert(
      fc.property(id(32), id(16), fc.constantFrom(0, 1), (traceId, spanId, flags) => {
        expect(parseTraceParent(formatTraceParent({ traceId, spanId, flags }))).toEqual({
          traceId,
          spanId,
          flags,
        });
      }),
    );
  });
});
