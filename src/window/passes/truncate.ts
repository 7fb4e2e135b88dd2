import { exchangesOf, indexesOf } from "../exchange.ts";
import { proposeHiding } from "../hide-slots.ts";
import type { Pass } from "../pass.ts";
import { protectedSeqs } from "../protected.ts";

/** How much of what follows the first exchange stays. */
export type Keep = "half" | "quarter";

/** Messages that leave of those after the first exchange, always an even number. */
const LEAVING: Readonly<Record<Keep, (count: number) => number>> = {
  half: (count) => Math.floor(count / 4) * 2,
  quarter: (count) => Math.floor((count * 3) / 8) * 2,
};

/** Hides the oldest half or three quarters of a window, in whole exchanges; the first one and what the system says stay. */
export function truncate(keep: Keep): Pass {
  return (slots, context) => {
    const kept = protectedSeqs(slots, context.pins);
    const [first, ...exchanges] = exchangesOf(slots);
    const goal = LEAVING[keep](slots.length - (first ? first.to + 1 : 0));
    const leaving: number[] = [];
    for (const exchange of exchanges) {
      const indexes = indexesOf(exchange);
      if (leaving.length > 0 && leaving.length + indexes.length > goal) break;
      if (leaving.length >= goal) break;
      if (indexes.some((index) => kept.has(slots[index]?.seq ?? -1))) continue;
      leaving.push(...indexes.filter((index) => slots[index]?.message.role !== "system"));
    }
    return proposeHiding(slots, leaving, `truncated to ${keep === "half" ? "a half" : "a quarter"}`, context);
  };
}
