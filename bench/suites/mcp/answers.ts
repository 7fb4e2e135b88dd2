import { join } from "node:path";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { measureAnswers, writeStore } from "./measure-answers.ts";

const TASKS = new URL("./measure-answers.ts", import.meta.url).href;
const ERAS = ["2025-11-25", "2026-07-28"] as const;
const REPEATS = 3;

/** CPU of a server from its start to the first answer, and of later answers, for clients of both eras. */
export const answers: Measurement = {
  name: "answers",
  async *run(bench) {
    const chunks = bench.isQuick ? 10_000 : 100_000;
    const folder = join(bench.folder, "mcp");
    const recalls = bench.isQuick ? 40 : 200;
    await bench.child(`${chunks} chunks`, TASKS, writeStore, { folder, chunks });
    const goal = (limit: number) => (bench.isQuick ? undefined : atMost(limit, "ms"));
    const unit = `ms of CPU, ${chunks / 1_000}k chunks`;
    for (const era of ERAS) {
      let best = await bench.child(era, TASKS, measureAnswers, { folder, chunks, recalls, era });
      for (let repeat = 1; repeat < REPEATS; repeat++) {
        const one = await bench.child(era, TASKS, measureAnswers, { folder, chunks, recalls, era });
        if (one.firstMs < best.firstMs) best = { ...one, p50: Math.min(one.p50, best.p50) };
      }
      const id = (what: string) => `mcp.${era.slice(0, 4)}.${what}`;
      yield toRow({ id: id("start"), value: best.startMs, unit: `${unit}: node to the list of tools` });
      yield toRow({
        id: id("first"),
        value: best.firstMs,
        unit: `${unit}: first recall after that`,
        goal: goal(300),
      });
      yield toRow({ id: id("next.p50"), value: best.p50, unit: `${unit}: later recalls`, goal: goal(20) });
      yield toRow({ id: id("next.p99"), value: best.p99, unit });
      yield toRow({ id: id("rss"), value: best.rssBytes / 1e6, unit: "MB" });
    }
  },
};
