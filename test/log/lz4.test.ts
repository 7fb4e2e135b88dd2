import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compressBlock, decompressBlock, MAX_BLOCK_BYTES, maxCompressedBytes } from "../../src/log/lz4.ts";

function roundTrip(input: Uint8Array): { packed: Uint8Array; unpacked: Uint8Array } {
  const target = new Uint8Array(maxCompressedBytes(input.length));
  const packed = target.slice(0, compressBlock(input, input.length, target, 0));
  const unpacked = new Uint8Array(input.length);
  expect(decompressBlock(packed, 0, unpacked, input.length)).toBe(true);
  return { packed, unpacked };
}

/** Bytes with the repetitions that make a compressor work: short runs, copies of earlier stretches, noise. */
const repetitive = fc
  .array(fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.tuple(fc.nat(), fc.integer({ min: 1, max: 400 }))), {
    maxLength: 60,
  })
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
  test("come back as they were", () => {
    fc.assert(
      fc.property(fc.oneof(repetitive, fc.uint8Array({ maxLength: 3_000 })), (input) => {
        expect(Buffer.from(roundTrip(input).unpacked).equals(input)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("come back at the longest length, packed or not packable", () => {
    for (const make of [
      (index: number) => index % 7,
      (index: number) => (Math.imul(index, 2654435761) >>> 13) & 255,
    ]) {
      const input = Uint8Array.from({ length: MAX_BLOCK_BYTES }, (_, index) => make(index));
      expect(Buffer.from(roundTrip(input).unpacked).equals(input)).toBe(true);
    }
  });

  test("make source code smaller", () => {
    const source = readFileSync(new URL("../../src/log/lz4.ts", import.meta.url)).subarray(0, 4_000);
    expect(roundTrip(source).packed.length).toBeLessThan(source.length * 0.7);
  });

  test("never read or write outside their bounds when damaged", () => {
    fc.assert(
      fc.property(
        repetitive,
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        fc.nat(),
        (input, flips, cut) => {
          const { packed } = roundTrip(input);
          for (const [at, value] of flips) packed[at % packed.length] = value;
          const damaged = packed.subarray(0, packed.length - (cut % 3));
          const target = new Uint8Array(input.length);
          expect(typeof decompressBlock(damaged, 0, target, input.length)).toBe("boolean");
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
