import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SerialQueue } from "../../../src/model/base/serial-queue.ts";

const pause = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("a serial queue", () => {
  test("a serial queue runs one piece of work at a time and in order, even if some fail", async () => {
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

  test("an idle serial queue starts work at once, and starts the next piece only after the caller of the first one has continued", async () => {
    const queue = new SerialQueue();
    const events: string[] = [];
    const first = queue.run(async () => {
      events.push("first begins");
      await pause();
      events.push("first ends");
    });
    const inside = queue.run(async () => events.push("second"));
    events.push("both are called");
    await first;
    // The caller of the first piece continues before the second one begins.
    events.push("the first caller goes on");
    await inside;
    expect(events).toEqual([
      "first begins",
      "both are called",
      "first ends",
      "the first caller goes on",
      "second",
    ]);
    expect(queue.waiting).toBe(0);
  });

  test("a serial queue runs work that a starting piece adds after that piece", async () => {
    const queue = new SerialQueue();
    const events: string[] = [];
    let inner: Promise<void> | undefined;
    const outer = queue.run(async () => {
      inner = queue.run(async () => {
        events.push("inner");
      });
      await pause();
      events.push("outer");
    });
    await outer;
    await inner;
    expect(events).toEqual(["outer", "inner"]);
  });

  test("a serial queue throws the error of a synchronous failure at once", async () => {
    const queue = new SerialQueue();
    const failed = queue.run(() => {
      throw new Error("at once");
    });
    await expect(failed).rejects.toThrow("at once");
    expect(await queue.run(async () => "next")).toBe("next");
  });
});
