import { findSessionOwner } from "../../model/session-owner.ts";
import { countPromptTokens } from "../../window-entry.ts";
import { createCounterMetric, OTHER } from "./metric.ts";
import type { Trace } from "./trace.ts";

/** Usage by person. Only admins see it; beyond a number of people, further ones are counted as one. */
export interface PersonMetrics {
  /** Counts a finished request of a person with a token. */
  record(trace: Trace): void;
  /** The metrics of the people who still exist; an erased person is named nowhere. */
  render(people: ReadonlySet<string>): string;
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
    render: (people) =>
      [requests, refusals, tokens, spentDollars]
        .flatMap((metric) => metric.render().split(/(?<=\n)/))
        .filter((line) => isOf(line, people))
        .join(""),
  };
}

/** True unless a line names a person who is not among these; names of people need no escaping. */
function isOf(line: string, people: ReadonlySet<string>): boolean {
  const [, person] = /\{person="(.*)"\}/.exec(line) ?? [];
  return person === undefined || person === OTHER || people.has(person);
}
