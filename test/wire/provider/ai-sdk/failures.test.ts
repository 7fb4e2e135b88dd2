import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { detectOverflow } from "../../../../src/window/limits/overflow.ts";
import { aiSdkProvider } from "../../../../src/wire/provider/ai-sdk/index.ts";
import { ProviderError } from "../../../../src/wire/provider/provider-error.ts";
import { secretKey, wireApis, wireOptions } from "../../../support/wire-models.ts";
import type { Behaviour } from "../../../support/wire-server/behaviour.ts";
import { startWireServer, type WireServer } from "../../../support/wire-server/wire-server.ts";

let server: WireServer;
beforeEach(async () => {
  server = await startWireServer();
});
afterEach(() => server.close());

const reply = { text: "One two three four five six." };
const variants = wireApis.flatMap((model) => [true, false].map((isStreaming) => ({ ...model, isStreaming })));
type Variant = (typeof variants)[number];

/** Runs one call with the scripted behavior, and returns its rejection. */
async function failWith({ id, isStreaming }: Variant, behaviour: Behaviour): Promise<ProviderError> {
  server.script(behaviour);
  const provider = aiSdkProvider(id, { ...wireOptions(server), isStreaming });
  const error: unknown = await provider.generate({ prompt: "the-words-of-the-prompt" }).then(
    () => undefined,
    (thrown) => thrown,
  );
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, not ${inspect(error)}`);
  expect(server.requests).toHaveLength(1);
  const everything = inspect(error, { depth: 20, showHidden: true });
  expect(everything).not.toContain(secretKey);
  expect(everything).not.toContain("the-words-of-the-prompt");
  return error;
}

describe("a request that the provider rejects", () => {
  test.each(variants)(
    "an overloaded provider can be retried: $id, streaming $isStreaming",
    async (variant) => {
      for (const kind of ["overloaded", "server-error"] as const) {
        const error = await failWith(variant, { type: "error", kind });
        expect(error).toMatchObject({ code: "PROVIDER_FAILED", details: { isRetryable: true } });
        expect(error.details.status).toBeGreaterThanOrEqual(500);
        await server.close();
        server = await startWireServer();
      }
    },
  );

  test.each(variants)(
    "a rejected request says how long to wait: $id, streaming $isStreaming",
    async (variant) => {
      const headers = { "retry-after": "7" };
      const error = await failWith(variant, { type: "error", kind: "rate-limit", headers });
      expect(error.details).toMatchObject({
        provider: variant.id,
        status: 429,
        isRetryable: true,
        retryAfterMs: 7_000,
      });
    },
  );

  test.each(variants)("a wrong request is not retried: $id, streaming $isStreaming", async (variant) => {
    const error = await failWith(variant, { type: "error", kind: "bad-request" });
    expect(error).toMatchObject({ code: "PROVIDER_FAILED", details: { status: 400, isRetryable: false } });
  });

  test.each(variants)(
    "the error of a rejected request hides the key: $id, streaming $isStreaming",
    async (variant) => {
      const body = JSON.stringify({
        type: "error",
        error: {
          type: "authentication_error",
          code: 401,
          status: "UNAUTHENTICATED",
          message: `bad key ${secretKey}`,
        },
      });
      const error = await failWith(variant, { type: "error", kind: "unauthorized", status: 401, body });
      expect(error.details).toMatchObject({ status: 401, isRetryable: false });
      expect(error.message).toContain("bad key [redacted]");
    },
  );

  test.each(variants)(
    "an overflow is recognized from the provider's error: $id, streaming $isStreaming",
    async (variant) => {
      const error = await failWith(variant, { type: "error", kind: "overflow" });
      expect(error.details.isRetryable).toBe(false);
      expect(detectOverflow(error.failure)).toMatchObject({ limitTokens: expect.any(Number) });
    },
  );

  test("a request is not retried when the account is empty", async () => {
    for (const variant of variants) {
      const error = await failWith(variant, { type: "error", kind: "empty-account" });
      expect(error.details.isRetryable).toBe(false);
      await server.close();
      server = await startWireServer();
    }
  });

  test("a rejected request says how long to wait in Google's notation", async () => {
    const [variant] = variants.filter(({ api }) => api === "google");
    const error = await failWith(variant as Variant, { type: "error", kind: "rate-limit" });
    expect(error.details.retryAfterMs).toBe(2_500);
  });

  test("a request rejected by a content filter is a refusal", async () => {
    const [variant] = variants.filter(({ api }) => api === "openai-chat");
    const body = JSON.stringify({ error: { message: "Filtered.", type: null, code: "content_filter" } });
    const error = await failWith(variant as Variant, { type: "error", kind: "bad-request", body });
    expect(error).toMatchObject({ code: "PROVIDER_REFUSED", details: { isRetryable: false, status: 400 } });
  });
});

describe("a reply that is not an answer", () => {
  test.each(variants)(
    "a refusal is an error with its usage: $id, streaming $isStreaming",
    async (variant) => {
      const usage = { input: 40, output: 9 };
      const error = await failWith(variant, {
        type: "reply",
        reply: { text: "No.", finish: "refusal", usage },
      });
      expect(error).toMatchObject({
        code: "PROVIDER_REFUSED",
        details: { isRetryable: false, reason: expect.any(String) },
        usage: { inputTokens: 40, outputTokens: 9 },
      });
    },
  );

  test.each(variants)(
    "a reply cut by the network is an error that can be retried: $id, streaming $isStreaming",
    async (variant) => {
      const error = await failWith(variant, { type: "cut", reply, afterEvents: 5 });
      expect(error).toMatchObject({ code: "PROVIDER_FAILED", details: { isRetryable: true } });
    },
  );

  test.each(variants.filter(({ isStreaming }) => isStreaming))(
    "a stream that ends early without an error can be retried: $id",
    async (variant) => {
      const error = await failWith(variant, { type: "cut", reply, afterEvents: 5, isOrderly: true });
      expect(error).toMatchObject({ code: "PROVIDER_FAILED", details: { isRetryable: true } });
      expect(error.message).toMatch(/broke off|stream ended/);
    },
  );

  test.each(wireApis)("a cut reply never counts as complete, wherever the cut: $id", async ({ id }) => {
    const provider = aiSdkProvider(id, wireOptions(server));
    for (let afterEvents = 0; afterEvents < 20; afterEvents++) {
      server.script(
        { type: "cut", reply, afterEvents, isOrderly: true },
        { type: "cut", reply, afterEvents },
      );
      for (const call of [provider.generate({ prompt: "hello" }), provider.generate({ prompt: "hello" })]) {
        const outcome = await call.catch((error: ProviderError) => error);
        if (outcome instanceof ProviderError) expect(outcome.details.isRetryable).toBe(true);
        else expect(outcome).toMatchObject({ text: reply.text, finishReason: "stop" });
      }
    }
  });

  test.each(variants.filter(({ isStreaming }) => isStreaming))(
    "an error inside a stream fails the call: $id",
    async (variant) => {
      const error = await failWith(variant, {
        type: "error-midway",
        reply,
        afterEvents: 5,
        kind: "overloaded",
      });
      expect(error).toMatchObject({ code: "PROVIDER_FAILED", details: { isRetryable: true } });
      expect(error.message).toMatch(/overloaded/i);
    },
  );

  test.each(variants.filter(({ isStreaming }) => isStreaming))(
    "an overflow inside a stream is recognized: $id",
    async (variant) => {
      const error = await failWith(variant, {
        type: "error-midway",
        reply,
        afterEvents: 5,
        kind: "overflow",
      });
      expect(error.details.isRetryable).toBe(false);
      expect(detectOverflow(error.failure)).toBeDefined();
    },
  );

  test.each(variants)("a malformed reply is an error: $id, streaming $isStreaming", async (variant) => {
    const error = await failWith(variant, { type: "rubbish" });
    expect(error).toMatchObject({ code: "PROVIDER_FAILED", details: { isRetryable: false } });
  });

  test.each(variants)(
    "a call to an address where nobody listens fails: $id, streaming $isStreaming",
    async (variant) => {
      const options = { ...wireOptions(server), isStreaming: variant.isStreaming };
      await server.close();
      const call = aiSdkProvider(variant.id, options).generate({ prompt: "hello" });
      await expect(call).rejects.toMatchObject({
        code: "PROVIDER_FAILED",
        details: { isRetryable: true },
        cause: { code: "ECONNREFUSED" },
      });
      server = await startWireServer();
    },
  );
});
