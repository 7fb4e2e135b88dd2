import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SerialQueue } from "../../src/base/serial-queue.ts";

const pause = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("a serial queue", () => {
  test("runs work one piece at a time and in order, even if some of it fails", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ pauses: fc.nat(3), fails: fc.boolean() })), async (pieces) => {
        const queue = new SerialQueue();
        const events: string[] = [];
        const results = pieces.map(({ pauses, fails }, index) =>
          queue.run(async () => {
            events.push(`begin ${index}`);
            for (let n = 0; n < pauses; n++) await pause();
            events.push(`end ${index}`);
            if (fails) throw new Error(`piece ${index}`);
            return index;
          }),
        );
        expect(queue.waiting).toBe(pieces.length);
        const ends = await Promise.allSettled(results);
        expect(ends.map(({ status }) => status)).toEqual(
          pieces.map(({ fails }) => (fails ? "rejected" : "fulfilled")),
        );
        expect(events).toEqual(pieces.flatMap((_, index) => [`begin ${index}`, `end ${index}`]));
        await pause();
        expect(queue.waiting).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  test("returns the error of a piece that throws at once", async () => {
    const queue = new SerialQueue();
    const failed = queue.run(() => {
      throw new Error("at once");
    });
    await expect(failed).rejects.toThrow("at once");
    expect(await queue.run(async () => "next")).toBe("next");
  });
});
