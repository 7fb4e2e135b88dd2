import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ByteCollector } from "../../../src/model/base/byte-collector.ts";

describe("a collector of bytes", () => {
  test("a collector of bytes joins any chunks, whatever length was announced", () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 10 });
    fc.assert(
      fc.property(chunks, fc.option(fc.nat(1_000)), (list, announced) => {
        const whole = Buffer.concat(list);
        const collector = new ByteCollector(announced ?? whole.length);
        for (const chunk of list) collector.add(Buffer.from(chunk));
        expect(collector.length).toBe(whole.length);
        expect(collector.take()).toEqual(whole);
        expect(collector.length).toBe(0);
      }),
    );
  });

  test("a collector of bytes does not copy a chunk of the whole announced length", () => {
    const chunk = Buffer.alloc(5_000, "x");
    const collector = new ByteCollector(chunk.length);
    collector.add(chunk);
    expect(collector.take().buffer).toBe(chunk.buffer);
  });

  test("a collector of bytes copies a chunk that keeps much more memory alive than its bytes", () => {
    const chunk = Buffer.alloc(65_536, "x").subarray(0, 5_000);
    const collector = new ByteCollector(chunk.length);
    collector.add(chunk);
    expect(collector.take().buffer.byteLength).toBeLessThan(6_000);
  });

  test("a collector of bytes does not change a kept chunk when more bytes follow", () => {
    const chunk = Buffer.alloc(100, "x");
    const collector = new ByteCollector(chunk.length);
    collector.add(chunk);
    collector.add(Buffer.from("more"));
    expect(collector.take().toString()).toBe(`${"x".repeat(100)}more`);
    expect(chunk.toString()).toBe("x".repeat(100));
  });
});
