import type { SectionKey } from "../contract/sections.ts";

/** What can be wrong with a summary. */
export const FAULTS = [
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

/** One of them. */
export type Fault = (typeof FAULTS)[number];

/** What is wrong, with the value that shows it. */
export interface Failure {
  readonly fault: Fault;
  readonly what: string;
}

/** What a summary lacks that can be added to it. */
export interface Missing {
  readonly sections: readonly SectionKey[];
  readonly identifiers: readonly string[];
  readonly asks: readonly string[];
}

/** What the gate says of a summary. */
export interface SummaryVerdict {
  readonly ok: boolean;
  readonly failures: readonly Failure[];
  readonly missing: Missing;
  /** Whether adding what is missing would be enough. */
  readonly isRepairable: boolean;
}

/** What is wrong, in words. */
export function wordsOfVerdict({ failures }: SummaryVerdict): string {
  return failures.map(({ fault, what }) => `${fault}: ${what}`).join("; ");
}
