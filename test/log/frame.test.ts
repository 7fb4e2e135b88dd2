import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { frameMessage, unframeMessage } from "../../src/log/entry-body.ts";
import type { Message } from "../../src/model/message.ts";
import type { BlobPart, Part, RawPart, TextPart } from "../../src/model/part.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.string({ maxLength: 200 }),
  fc.string({ unit: "grapheme", maxLength: 80 }),
  fc.constant("\n".repeat(40)),
);
const textPart = fc.record({ type: fc.constant("text" as const), text });
const blobPart: fc.Arbitrary<BlobPart> = fc.record({
  type: fc.constant("blob" as const),
  digest: fc.constant("0".repeat(64)),
  sizeBytes: fc.nat(),
  mime: fc.constant("image/png"),
  preview: text,
});
const rawPart: fc.Arbitrary<RawPart> = fc.record({
  type: fc.constant("raw" as const),
  format: text,
  value: fc.jsonValue() as fc.Arbitrary<RawPart["value"]>,
});
const part: fc.Arbitrary<Part> = fc.oneof(
  textPart,
  blobPart,
  rawPart,
  fc.record({
    type: fc.constant("reasoning" as const),
    text,
    opaque: fc.jsonValue() as fc.Arbitrary<RawPart["value"]>,
  }),
  fc.record({
    type: fc.constant("tool-call" as const),
    callId: text,
    name: text,
    input: fc.jsonValue() as fc.Arbitrary<RawPart["value"]>,
  }),
  fc.record({
    type: fc.constant("tool-result" as const),
    callId: text,
    output: fc.array(fc.oneof<fc.Arbitrary<TextPart | BlobPart | RawPart>[]>(textPart, blobPart, rawPart), {
      maxLength: 4,
    }),
  }),
);
const message: fc.Arbitrary<Message> = fc.record({
  role: fc.constantFrom("user", "assistant", "tool", "system"),
  parts: fc.array(part, { maxLength: 6 }),
});

describe("a framed message", () => {
  sizedTest("a framed message reads back as JSON would read it", () => {
    fc.assert(
      fc.property(message, (said) => {
        expect(unframeMessage(frameMessage(said))).toEqual(JSON.parse(JSON.stringify(said)));
      }),
      { numRuns: proofRounds(2_000) },
    );
  });

  test("a framed message contains long texts unchanged, after the JSON", () => {
    const said = `She said "no"\n\tand left; ${"then ".repeat(20)}`;
    expect(frameMessage({ role: "user", parts: [{ type: "text", text: said }] })).toBe(
      `{"role":"user","parts":[{"type":"text","text":${said.length}}]}\n${said}`,
    );
  });

  test("framing does not change the message", () => {
    const said: Message = { role: "user", parts: [{ type: "text", text: "x".repeat(100) }] };
    frameMessage(said);
    expect(said).toEqual({ role: "user", parts: [{ type: "text", text: "x".repeat(100) }] });
  });

  test("a cut framed message is reported as damaged", () => {
    const framed = frameMessage({ role: "user", parts: [{ type: "text", text: "word ".repeat(50) }] });
    expect(() => unframeMessage(framed.slice(0, -1))).toThrow(
      expect.objectContaining({ code: "STORE_CORRUPT" }),
    );
    expect(() => unframeMessage(`${framed}x`)).toThrow(expect.objectContaining({ code: "STORE_CORRUPT" }));
  });
});
