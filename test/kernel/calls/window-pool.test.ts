import { expect, test } from "vitest";
import { WindowPool } from "../../../src/kernel/calls/call-window.ts";
import { testKernel } from "../../support/kernel.ts";

async function openPool() {
  const session = await (await testKernel()).session("pool");
  return new WindowPool({
    maxIdle: 1,
    open: (model: string) => session.window({ model }),
    toKey: (model) => model,
    isSimilar: (one, other) => one === other,
  });
}

test("Two simultaneous calls get different windows, and the next similar call reuses a returned one.", async () => {
  const pool = await openPool();
  const [one, other] = [pool.take("gpt-5"), pool.take("gpt-5")];
  expect(one.window).not.toBe(other.window);
  one.release();
  expect(pool.take("gpt-5").window).toBe(one.window);
});

test("A window that is returned twice is lent to one call only.", async () => {
  const pool = await openPool();
  const lease = pool.take("gpt-5");
  lease.release();
  const next = pool.take("gpt-5");
  lease.release();
  expect(next.window).toBe(lease.window);
  expect(pool.take("gpt-5").window).not.toBe(next.window);
});

test("Shared windows are the same for similar calls.", async () => {
  const pool = await openPool();
  expect(pool.share("gpt-5").window).toBe(pool.share("gpt-5").window);
});
