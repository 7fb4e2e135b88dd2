import { atMostOfBeside, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { largeGrowth } from "./growth.ts";
import { counted, sizesOf } from "./sizes.ts";

/** Appends at the end of a very long session, compared with those near its start. */
export const appendFlat: Measurement = {
  name: "append.p99.flat",
  async *run(bench) {
    const { early, large } = sizesOf(bench);
    const { p99Us } = await largeGrowth(bench);
    yield toRow({
      id: "append.p99.flat",
      value: p99Us?.late ?? null,
      unit: `µs at ${counted(large)}`,
      beside: `itself at message ${counted(early)}`,
      besideValue: p99Us?.early ?? null,
      goal: atMostOfBeside(2),
    });
  },
};
