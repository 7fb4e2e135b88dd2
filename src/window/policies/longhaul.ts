import type { Policy } from "../policy.ts";
import { LONGHAUL_OPTIONS, type LonghaulOptions } from "./longhaul/longhaul-options.ts";
import { LonghaulRun } from "./longhaul/longhaul-run.ts";

export { LONGHAUL_OPTIONS, type LonghaulOptions } from "./longhaul/longhaul-options.ts";

/** Measured in replays: tokens of extracts relative to the tool calls and output that had left. */
const EXTRACT_SHARE = 0.12;

/**
 * The default policy: few, large rebuilds, done where they pay. Old messages leave as a whole and return as an extract:
 * verbatim lines, each clue once, chosen by the probability per token that the assistant needs them again.
 */
export function longhaul(options: Partial<LonghaulOptions> = {}): Policy {
  const settled = { ...LONGHAUL_OPTIONS, ...options };
  return {
    name: "longhaul",
    dropsPages: true,
    extractShare: EXTRACT_SHARE,
    start: (limits, tokensOf, course = {}) => new LonghaulRun(settled, limits, tokensOf, course),
  };
}
