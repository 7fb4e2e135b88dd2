import type { Policy } from "../policy.ts";
import { LONGHAUL_OPTIONS, type LonghaulOptions } from "./longhaul/options.ts";
import { LonghaulRun } from "./longhaul/run.ts";

export { LONGHAUL_OPTIONS, type LonghaulOptions } from "./longhaul/options.ts";

/**
 * The default: few, large rebuilds, where they pay. What is old leaves as a whole and comes back as an extract: verbatim
 * lines, each fact once, chosen by how likely the assistant needs them again for each token they take.
 */
export function longhaul(options: Partial<LonghaulOptions> = {}): Policy {
  const settled = { ...LONGHAUL_OPTIONS, ...options };
  return {
    name: "longhaul",
    start: (budget, tokensOf, course = {}) => new LonghaulRun(settled, budget, tokensOf, course),
  };
}
