import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createCounterMetric,
  createHistogramMetric,
  MAX_SERIES,
} from "../../../../src/server/gateway/observe/metric.ts";
import { createMetrics } from "../../../../src/server/gateway/observe/metrics.ts";

/** One sample line of the text format. */
const SAMPLE =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (-?[0-9.]+(?:e[+-]?\d+)?|\+Inf|NaN)$/;

function samplesOf(text: string): ReadonlyMap<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("# "));
  return new Map(
    lines.map((line) => {
      const match = SAMPLE.exec(line);
      if (!match) throw new Error(`no sample: ${line}`);
      return [`${match[1]}${match[2] ?? ""}`, Number(match[3])];
    }),
  );
}

describe("metrics", () => {
  test("metrics count and are read in the text format of Prometheus", () => {
    const metrics = createMetrics({
      version: "1.2.3",
      activeStreams: () => 3,
      openThreads: () => 4,
      connections: () => 5,
    });
    metrics.requests.add({ api: "anthropic", status: "200" });
    metrics.requests.add({ api: "anthropic", status: "200" });
    metrics.tokens.add({ api: "anthropic", type: "input" }, 1_234);
    metrics.savedDollars.add({ api: "anthropic" }, -0.5);
    metrics.overhead.observe({ api: "anthropic" }, 0.0015);
    metrics.overhead.observe({ api: "anthropic" }, 100);
    const text = metrics.render();
    const samples = samplesOf(text);
    expect(samples.get('longhaul_requests_total{api="anthropic",status="200"}')).toBe(2);
    expect(samples.get('longhaul_tokens_total{api="anthropic",type="input"}')).toBe(1_234);
    expect(samples.get('longhaul_saved_dollars{api="anthropic"}')).toBe(-0.5);
    expect(samples.get("longhaul_active_streams")).toBe(3);
    expect(samples.get("longhaul_open_threads")).toBe(4);
    expect(samples.get('longhaul_info{version="1.2.3"}')).toBe(1);
    expect(samples.get("process_resident_memory_bytes")).toBeGreaterThan(1_000_000);
    expect(samples.get('longhaul_overhead_seconds_bucket{api="anthropic",le="0.001"}')).toBe(0);
    expect(samples.get('longhaul_overhead_seconds_bucket{api="anthropic",le="0.002"}')).toBe(1);
    expect(samples.get('longhaul_overhead_seconds_bucket{api="anthropic",le="+Inf"}')).toBe(2);
    expect(samples.get('longhaul_overhead_seconds_count{api="anthropic"}')).toBe(2);
    const names = [...text.matchAll(/^# TYPE (\S+) (counter|gauge|histogram)$/gm)].map((match) => match[1]);
    expect(new Set(names).size).toBe(names.length);
  });

  test("a counter takes no negative and no missing amounts, and a histogram counts each value in its bucket", () => {
    const counter = createCounterMetric("c", "Help.", ["api"]);
    counter.add({ api: "a" }, 0);
    expect(samplesOf(counter.render()).get('c{api="a"}')).toBe(0);
    for (const amount of [2, -1, Number.NaN, undefined]) counter.add({ api: "a" }, amount);
    expect(samplesOf(counter.render()).get('c{api="a"}')).toBe(3);
    const histogram = createHistogramMetric("h", "Help.", ["api"], [1, 2]);
    for (const value of [2, 3]) histogram.observe({ api: "a" }, value);
    const samples = samplesOf(histogram.render());
    expect(samples.get('h_bucket{api="a",le="1"}')).toBe(0);
    expect(samples.get('h_bucket{api="a",le="2"}')).toBe(1);
    expect(samples.get('h_count{api="a"}')).toBe(2);
  });

  test("metrics hold a bounded number of labels, however many clients invent", () => {
    const counter = createCounterMetric("requests_total", "Requests.", ["model"]);
    for (let index = 0; index < 10_000; index++) counter.add({ model: `m${index}` });
    const samples = samplesOf(counter.render());
    expect(samples.size).toBe(MAX_SERIES + 1);
    expect(samples.get('requests_total{model="other"}')).toBe(10_000 - MAX_SERIES);
  });

  test("metrics stay readable whatever labels and values are", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.double(), (label, value) => {
        const counter = createCounterMetric("a_total", "A.", ["b"]);
        counter.add({ b: label }, value);
        const histogram = createHistogramMetric("c", "C.", ["d"], [1, 2]);
        histogram.observe({ d: label }, value);
        samplesOf(counter.render() + histogram.render());
      }),
    );
  });

  test("each bucket of a histogram counts all smaller values", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 10, noNaN: true }), { minLength: 1 }), (values) => {
        const histogram = createHistogramMetric("c", "C.", [], [1, 2, 5]);
        for (const value of values) histogram.observe({}, value);
        const samples = samplesOf(histogram.render());
        for (const bound of [1, 2, 5])
          expect(samples.get(`c_bucket{le="${bound}"}`)).toBe(
            values.filter((value) => value <= bound).length,
          );
        expect(samples.get("c_count")).toBe(values.length);
      }),
    );
  });
});
