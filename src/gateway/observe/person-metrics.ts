import { findSessionOwner } from "../../model/session-owner.ts";
import { countPromptTokens } from "../../window-entry.ts";
import { createCounterMetric } from "./metric.ts";
import type { Trace } from "./trace.ts";

/** Usage by person. Only admins see it; beyond a number of people, further ones are counted as one. */
export interface PersonMetrics {
  /** Counts a finished request of a person with a token. */
  record(trace: Trace): void;
  render(): string;
}

export function createPersonMetrics(): PersonMetrics {
  const requests = createCounterMetric("longhaul_person_requests_total", "Requests by person.", ["person"]);
  const refusals = createCounterMetric(
    "longhaul_person_refusals_total",
    "Requests refused by a budget or rate limit, by person.",
    ["person"],
  );
  const tokens = createCounterMetric("longhaul_person_tokens_total", "Tokens by person, prompt and output.", [
    "person",
  ]);
  const spentDollars = createCounterMetric(
    "longhaul_person_spent_dollars_total",
    "Cost of requests by person, in US dollars.",
    ["person"],
  );
  return {
    record({ principal, usage, spentDollars: cost = 0, error }) {
      if (!principal.startsWith("@")) return;
      const person = findSessionOwner(`${principal}/`);
      requests.add({ person });
      if (error === "budget" || error === "rate_limit") refusals.add({ person });
      if (usage) tokens.add({ person }, countPromptTokens(usage) + (usage.outputTokens ?? 0));
      spentDollars.add({ person }, cost);
    },
    render: () => [requests, refusals, tokens, spentDollars].map((metric) => metric.render()).join(""),
  };
}
