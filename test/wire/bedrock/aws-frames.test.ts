import fc from "fast-check";
import { expect, test } from "vitest";
import { AwsFrameSplitter, encodeAwsFrame } from "../../../src/wire/bedrock/aws-frames.ts";

test("frames are the same however their bytes are cut", () => {
  const frames = ["a", "b".repeat(5_000), "", "c".repeat(70_000)].map((text) =>
    encodeAwsFrame("event", "chunk", { bytes: text }),
  );
  const stream = Buffer.concat(frames);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 12 }), (sizes) => {
      const splitter = new AwsFrameSplitter();
      const found: Buffer[] = [];
      for (let at = 0, turn = 0; at < stream.length; turn++) {
        const size = sizes[turn % sizes.length] as number;
        found.push(...splitter.push(stream.subarray(at, at + size)).map(({ bytes }) => Buffer.from(bytes)));
        at += size;
      }
      expect(Buffer.concat(found)).toEqual(stream);
      expect(splitter.isCut).toBe(false);
    }),
    { numRuns: 50 },
  );
});

test("a large frame in small pieces is copied a bounded number of times", () => {
  const frame = encodeAwsFrame("event", "chunk", { bytes: "A".repeat(2_000_000) });
  const { concat } = Buffer;
  let copied = 0;
  Buffer.concat = ((list, length) => {
    copied += list.reduce((sum, { length: own }) => sum + own, 0);
    return concat(list, length);
  }) as typeof Buffer.concat;
  try {
    const splitter = new AwsFrameSplitter();
    let count = 0;
    for (let at = 0; at < frame.length; at += 4_096)
      count += splitter.push(frame.subarray(at, at + 4_096)).length;
    expect(count).toBe(1);
  } finally {
    Buffer.concat = concat;
  }
  expect(copied).toBeLessThan(4 * frame.length);
});

test("a stream that ends within a frame, or is no frames, is cut", () => {
  const frame = encodeAwsFrame("event", "chunk", { bytes: "x" });
  const splitter = new AwsFrameSplitter();
  splitter.push(frame.subarray(0, 20));
  expect(splitter.isCut).toBe(true);
  const broken = new AwsFrameSplitter();
  expect(broken.push(Buffer.from("<html>not frames at all</html>"))).toEqual([]);
  expect(broken.isCut).toBe(true);
});
