import { expect, test } from "vitest";
import { LonghaulError } from "../../src/model/errors.ts";
import { retryStore } from "../../src/tasks/retry-store.ts";

test("work that waits for a full disk continues when there is room, and reports the reason once", async () => {
  const warnings: string[] = [];
  const parts = {
    timer: {
      after: (_: number, ring: () => void) => {
        setImmediate(ring);
        return () => undefined;
      },
    },
    onWarning: (warning: string) => void warnings.push(warning),
  };
  const { signal } = new AbortController();
  let left = 12;
  const work = async () => {
    if (left-- > 0) throw new LonghaulError("DISK_FULL", "The disk is full; make room.");
    return "written";
  };
  expect(await retryStore(parts, signal, "t", work)).toBe("written");
  expect(warnings).toEqual(["Task t waits until the store can be written to: The disk is full; make room."]);
  left = 1;
  expect(await retryStore(parts, signal, "t", work)).toBe("written");
  expect(warnings).toHaveLength(1);
});
