import type { FailureFacts } from "./provider-failure.ts";

const REFUSAL_STATUSES: readonly number[] = [401, 402, 403, 404, 408, 429, 529];

const REFUSAL_WORDING =
  /rate.?limit|throttl|quota|resource.?exhausted|too many requests|(?:tokens|requests) per (?:sec|min|hour|day)|\b[TRI]P[MD]\b|overloaded|\bcredits?\b|billing|can only afford/i;

/** True if the provider refused the caller (rate, quota, money, access), which says nothing about the window. */
export function isRefusal(facts: FailureFacts): boolean {
  return (
    REFUSAL_STATUSES.some((status) => facts.statuses.has(status)) ||
    [...facts.codes, ...facts.texts].some((text) => REFUSAL_WORDING.test(text))
  );
}
