import { checkFields } from "../model/argument-checks.ts";
import { checkNames } from "../model/check-names.ts";
import type { SessionCompactOptions } from "./session-windows.ts";

const NAMES: Readonly<Record<keyof SessionCompactOptions, true>> = {
  model: true,
  fallback: true,
  parts: true,
  instructions: true,
  template: true,
  signal: true,
  dryRun: true,
  budgetTokens: true,
  lastMessages: true,
  tries: true,
  deadlineMs: true,
  retries: true,
  mostShare: true,
};
const FIELDS = { instructions: "text?", signal: "signal?", dryRun: "boolean?" } as const;

/** Refuses unknown options of a compaction and values of a wrong kind. */
export function checkCompactOptions(options: SessionCompactOptions): void {
  checkNames("options", checkFields("options", options, FIELDS), Object.keys(NAMES));
}
