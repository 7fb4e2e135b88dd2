import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PRIMER } from "../../src/log/codec.ts";
import { Lz4 } from "../../src/log/lz4.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";

const MAX_BYTES = 60_000;
const primed = new Lz4(PRIMER, MAX_BYTES);
const unprimed = new Lz4(Uint8Array.of(1, 2, 3, 4), 65_531);

function pack(lz4: Lz4, input: Uint8Array): Uint8Array {
  lz4.input.set(input);
  return lz4.pack(input.length).slice();
}

function comesBack(lz4: Lz4, input: Uint8Array): boolean {
  const packed = pack(lz4, input);
  // All calls share the buffers: earlier content must not affect the result.
  lz4.input.fill(0x55);
  const unpacked = lz4.unpack(packed, 0, input.length);
  return unpacked !== undefined && Buffer.from(unpacked).equals(input);
}

/** Bytes with the repetitions that exercise a compressor: short runs, copies of earlier ranges, noise, primer words. */
const repetitive = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.tuple(fc.nat(), fc.integer({ min: 1, max: 400 })),
      fc.nat(PRIMER.length - 30).map((at) => PRIMER.slice(at, at + 30)),
    ),
    { maxLength: 60 },
  )
  .map((steps) => {
    const bytes: number[] = [];
    for (const step of steps) {
      if (step instanceof Uint8Array) bytes.push(...step);
      else if (bytes.length > 0)
        for (let n = 0, from = step[0] % bytes.length; n < step[1]; n++)
          bytes.push(bytes[from + n] as number);
    }
    return Uint8Array.from(bytes);
  });

describe("LZ4 blocks", () => {
  sizedTest.each([
    ["with a primer", primed],
    ["with almost none", unprimed],
  ] as const)("LZ4 blocks decompress to their input, %s", (_, lz4) => {
    const input = fc.oneof(
      repetitive,
      fc.uint8Array({ maxLength: 3_000 }),
      fc.string({ maxLength: 3_000 }).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(input, (bytes) => comesBack(lz4, bytes)),
      { numRuns: proofRounds(2_000) },
    );
  });

  test("LZ4 blocks of the greatest length decompress to their input, compressible or not", () => {
    for (const lz4 of [primed, unprimed]) {
      for (const make of [
        (index: number) => index % 7,
        (index: number) => (Math.imul(index, 2654435761) >>> 13) & 255,
        () => 0,
      ]) {
        expect(
          comesBack(
            lz4,
            Uint8Array.from({ length: lz4.maxBytes }, (_, index) => make(index)),
          ),
        ).toBe(true);
      }
    }
    expect(() => new Lz4(PRIMER, 65_535)).toThrow(RangeError);
    expect(() => new Lz4(new Uint8Array(0), 100)).toThrow(RangeError);
  });

  test("LZ4 blocks shrink short messages, especially with the primer", () => {
    const message = Buffer.from(
      JSON.stringify({
        role: "assistant",
        parts: [
          {
            type: "text",
            text: "Let me look at the file and run the tests again, because the error says that the value is undefined.",
          },
        ],
      }),
    );
    expect(pack(unprimed, message).length).toBeGreaterThan(message.length * 0.9);
    expect(pack(primed, message).length).toBeLessThan(message.length * 0.65);
  });

  sizedTest("damaged LZ4 blocks are refused or give other bytes, and never read outside their bounds", () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(repetitive, damage, fc.nat(), (input, flips, cut) => {
        const packed = pack(primed, input);
        for (const [at, value] of flips) packed[at % packed.length] = value;
        const unpacked = primed.unpack(packed.subarray(0, packed.length - (cut % 3)), 0, input.length);
        expect(unpacked === undefined || unpacked.length === input.length).toBe(true);
        expect(Buffer.from(primed.input.buffer, 0, PRIMER.length).equals(PRIMER)).toBe(true);
      }),
      { numRuns: proofRounds(2_000) },
    );
    expect(primed.unpack(Uint8Array.of(0), 0, MAX_BYTES + 1)).toBeUndefined();
  });
});
