import { expect, test } from "vitest";
import { MonitorHistory } from "../../../src/kernel/monitor/monitor-history.ts";
import { testKernel } from "../../support/kernel.ts";

test("the history keeps recent samples completely and the peaks of older ones, within its bounds", async () => {
  const kernel = await testKernel({ path: ":memory:", embedder: null });
  const sample = await kernel.monitor.sample();
  const history = new MonitorHistory();
  for (let at = 0; at < 30_000; at++) history.add({ ...sample, at, usedBytes: at % 100 === 37 ? 1_000 : 1 });
  const { points } = history.read();
  expect(points.length).toBe(1_360);
  expect(points.map(({ at }) => at)).toEqual(
    points.map(({ at }) => at).toSorted((one, other) => one - other),
  );
  expect(points.slice(-360).map(({ at }) => at)).toEqual(Array.from({ length: 360 }, (_, at) => 29_640 + at));
  const peaks = points.slice(0, 1_000).filter(({ usedBytes }) => usedBytes === 1_000);
  expect(peaks.length).toBe(200);
  expect(history.read(29_990).points).toHaveLength(10);
});

test("the history of a kernel contains its samples and reliefs", async () => {
  // The process of the tests may use more than the default limits.
  const monitor = { warningBytes: 64e9, criticalBytes: 128e9 };
  const kernel = await testKernel({ path: ":memory:", embedder: null, monitor });
  await kernel.monitor.check();
  await kernel.monitor.relieve();
  const { points, notes } = kernel.monitor.history();
  expect(points).toHaveLength(1);
  expect(points[0]?.disk.logBytes).toBeGreaterThanOrEqual(0);
  expect(notes).toMatchObject([{ type: "relief", report: { cacheShare: 0.25 } }]);
});
