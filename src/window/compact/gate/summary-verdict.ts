import type { SectionKey } from "../contract/sections.ts";

/** The possible faults of a summary. */
export const SUMMARY_FAULTS = [
  "grew",
  "empty",
  "missing-section",
  "missing-identifier",
  "missing-ask",
  "invented-file",
  "invented-address",
  "invented-command",
  "role-marker",
  "obeyed",
] as const;

export type SummaryFault = (typeof SUMMARY_FAULTS)[number];

/** A fault, with the value that shows it. */
export interface SummaryFailure {
  readonly fault: SummaryFault;
  readonly what: string;
}

/** Missing content that can be appended to a summary. */
export interface MissingContent {
  readonly sections: readonly SectionKey[];
  readonly identifiers: readonly string[];
  readonly asks: readonly string[];
}

/** The result of judging a summary. */
export interface SummaryVerdict {
  readonly ok: boolean;
  readonly failures: readonly SummaryFailure[];
  readonly missing: MissingContent;
  /** True if appending the missing content would be enough. */
  readonly isRepairable: boolean;
}

/** The failures of a verdict in words. */
export function describeVerdict({ failures }: SummaryVerdict): string {
  return failures.map(({ fault, what }) => `${fault}: ${what}`).join("; ");
}
