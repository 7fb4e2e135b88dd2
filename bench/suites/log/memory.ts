import { type MemoryReading, megabytes } from "../../measure/memory.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { type Growth, largeGrowth, smallGrowth } from "./growth.ts";
import { counted, sizesOf } from "./sizes.ts";

/** Memory cost of a session's length. */
export const memoryAppend: Measurement = {
  name: "memory.append",
  async *run(bench) {
    const { start, small, large } = sizesOf(bench);
    const ours = await largeGrowth(bench);
    const grown = (growth: Growth, length: number, key: keyof MemoryReading) =>
      megabytes((growth.memory[length]?.[key] ?? 0) - (growth.memory[start]?.[key] ?? 0));
    const unit = (length: number) => `MB at ${counted(length)}`;
    yield toRow({
      id: "memory.append.heap",
      value: grown(ours, large, "heapBytes"),
      unit: unit(large),
      goal: atMost(16, "MB"),
    });
    yield toRow({
      id: "memory.append.rss",
      value: grown(ours, large, "rssBytes"),
      unit: unit(large),
      goal: atMost(40, "MB"),
    });
    yield toRow({
      id: "memory.append.rss.busy",
      value: megabytes((ours.busyRssBytes[large] ?? 0) - (ours.busyRssBytes[start] ?? 0)),
      unit: unit(large),
    });
    // In a quick run's few messages, the peers' memory is within the noise.
    if (bench.isQuick) return;
    for (const peer of ["pi", "mastra"]) {
      const theirs = await bench.beside(peer, () => smallGrowth(bench, peer));
      for (const [name, key] of [
        ["heap", "heapBytes"],
        ["rss", "rssBytes"],
      ] as const) {
        yield toRow({
          id: `memory.append.${name}.${peer}`,
          value: grown(ours, small, key),
          unit: unit(small),
          beside: `${peer} at ${counted(small)}`,
          besideValue: theirs && grown(theirs, small, key),
        });
      }
    }
  },
};
