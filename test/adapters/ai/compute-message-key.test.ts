import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { computeMessageKey } from "../../../src/adapters/ai/compute-message-key.ts";
import { decodeSdkMessage } from "../../../src/adapters/ai/decode-sdk-message.ts";
import type { SdkMessage, SdkMessagePart } from "../../../src/adapters/ai/sdk-message.ts";
import { toPlainMessage } from "../../../src/adapters/ai/to-plain-message.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

const text = fc.oneof(
  fc.string(),
  fc.constant("long words ".repeat(8_000)),
  fc.constant("汉字 🎉\ud800".repeat(20)),
);
const output: fc.Arbitrary<unknown> = fc.oneof(
  text.map((value) => ({ type: "text", value })),
  fc.jsonValue().map((value) => ({ type: "json", value })),
  text.map((value) => ({ type: "error-text", value })),
  fc.constant({
    type: "content",
    value: [
      { type: "text", text: "a" },
      { type: "file-url", url: "https://example.com/a.png" },
    ],
  }),
);
const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const parts: fc.Arbitrary<SdkMessagePart> = fc.oneof(
  text.map((words) => ({ type: "text", text: words })),
  text.map((words) => ({
    type: "reasoning",
    text: words,
    providerOptions: { anthropic: { signature: "abcd" } },
  })),
  fc.constant({ type: "file", mediaType: "image/png", data: { type: "data", data: png } }),
  fc.constant({
    type: "file",
    mediaType: "image/png",
    data: { type: "url", url: new URL("https://example.com/a.png") },
  }),
  fc.record({
    type: fc.constant("tool-call"),
    toolCallId: fc.string({ minLength: 1 }),
    toolName: fc.string({ minLength: 1 }),
    input: fc.jsonValue(),
  }),
  fc.record({
    type: fc.constant("tool-result"),
    toolCallId: fc.string({ minLength: 1 }),
    toolName: fc.string({ minLength: 1 }),
    output,
  }),
  fc.constant({ type: "custom", kind: "openai.compaction", providerOptions: { openai: { itemId: "x" } } }),
);

describe("the key of a message", () => {
  sizedTest(
    "a message from the caller and its entry in the log have the same key, whatever the message holds",
    async () => {
      const kernel = await testKernel();
      const session = await kernel.session();
      await fc.assert(
        fc.asyncProperty(fc.array(parts, { minLength: 1, maxLength: 5 }), async (content) => {
          const input = decodeSdkMessage({ role: "assistant", content });
          const given = toPlainMessage(input, new Map());
          const { message } = await session.append(input);
          const stored = await session.entry((await session.head()).seq);
          expect(computeMessageKey(message)).toBe(computeMessageKey(given));
          expect(stored?.kind === "message" && computeMessageKey(stored.message)).toBe(
            computeMessageKey(given),
          );
          expect(message.parts).toHaveLength(given.parts.length);
        }),
        { numRuns: proofRounds(60) },
      );
    },
  );

  test("the key of a message ignores only the parts that callers lose on the way", () => {
    const key = (message: SdkMessage) =>
      computeMessageKey(toPlainMessage(decodeSdkMessage(message), new Map()));
    const call = { type: "tool-call", toolCallId: "c", toolName: "read", input: { path: "a" } };
    const whole = key({
      role: "assistant",
      content: [{ type: "reasoning", text: "hm" }, { type: "text", text: "yes" }, call],
    });
    expect(
      key({
        role: "assistant",
        content: [
          { type: "text", text: "yes" },
          { ...call, input: { path: "a", limit: 1 } },
        ],
      }),
    ).toBe(whole);
    expect(key({ role: "assistant", content: [{ type: "text", text: "no" }, call] })).not.toBe(whole);
    expect(
      key({
        role: "assistant",
        content: [
          { type: "text", text: "yes" },
          { ...call, toolCallId: "d" },
        ],
      }),
    ).not.toBe(whole);
    expect(key({ role: "user", content: "yes" })).toBe(
      key({ role: "user", content: [{ type: "text", text: "yes" }] }),
    );
  });
});
