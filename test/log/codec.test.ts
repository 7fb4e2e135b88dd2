import { createHash } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodePayload, encodePayload, PRIMER } from "../../src/log/codec.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";

describe("payloads", () => {
  sizedTest("payloads can hold any text of any length", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 400 }),
      fc.string({ unit: "grapheme", maxLength: 12_000 }),
      fc.tuple(fc.string({ maxLength: 60 }), fc.nat(1_000)).map(([word, times]) => word.repeat(times)),
    );
    // JSON never contains a lone surrogate, so neither do these texts.
    fc.assert(
      fc.property(
        text,
        (json) =>
          decodePayload(encodePayload(json.toWellFormed(), "message"), "message") === json.toWellFormed(),
      ),
      { numRuns: proofRounds(500) },
    );
  });

  test("payloads of text are smaller than the text", () => {
    const text = JSON.stringify({
      role: "user",
      parts: [{ type: "text", text: "the quick brown fox jumps over the lazy dog; ".repeat(40) }],
    });
    expect(encodePayload(text, "message").length).toBeLessThan(text.length / 4);
    expect(encodePayload("字".repeat(9_000), "message").length).toBeLessThan(500);
  });

  test("payloads compressed by a Node without zstd can be read", () => {
    const json = '{"text":"hello"}';
    expect(decodePayload(Buffer.concat([Buffer.from([3]), deflateRawSync(json)]), "message")).toBe(json);
  });

  test("damaged payloads are reported as such, whatever the damage", () => {
    const whole = encodePayload(JSON.stringify({ text: "some words ".repeat(100) }), "message");
    for (const damaged of [
      new Uint8Array(0),
      Uint8Array.of(9, 1, 2),
      whole.subarray(0, 20),
      Uint8Array.of(1, 255, 255, 0),
      Uint8Array.of(2, 1, 2, 3),
      Uint8Array.of(3, 255, 255),
    ]) {
      expect(() => decodePayload(damaged, "message")).toThrow(
        expect.objectContaining({ code: "STORE_CORRUPT" }),
      );
    }
  });
});

test("the released primer is never changed, because stored payloads depend on it", () => {
  expect(createHash("sha256").update(PRIMER).digest("hex").slice(0, 16)).toBe("2645fcec3151e731");
});
