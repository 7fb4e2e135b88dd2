import { sessionText as text } from "./session-text.ts";

/** Reasons that the policy of longhaul gives, with their texts. */
const REASON_TEXTS = {
  "over the limit": "reasonLimit",
  "the cache is cold": "reasonCold",
  "shortened when it first appeared": "reasonShortened",
  "taken back": "reasonTakenBack",
} as const;

/** The reason for an edit in the reader's language; a person's own words stay. The receipt has the figures. */
export function describeReason(reason: string): string {
  if (/^pays after \d+ calls/.test(reason)) return text("reasonSaves");
  const key = Object.hasOwn(REASON_TEXTS, reason)
    ? REASON_TEXTS[reason as keyof typeof REASON_TEXTS]
    : undefined;
  return key ? text(key) : reason;
}
