import { checkFields, checkKind } from "../../model/argument-checks.ts";
import type { UsageBody } from "../../model/entry.ts";
import { sumPromptTokens, type Usage } from "../../model/usage.ts";
import type { ModelFacts } from "./model-data.ts";

const PER_MILLION = 1_000_000;
/** The price of a search by the web tools of Anthropic and OpenAI. */
const DOLLARS_PER_SEARCH = 0.01;

/**
 * Cost of a request in US dollars at its model's prices, with the surcharges that the provider reported; calls that it made
 * on other models are left out.
 */
export function computeUsageCost(usage: Usage, facts: ModelFacts): number {
  checkFields("usage", usage);
  checkFields("facts", facts, { prices: "object" });
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const hourTokens = Math.min(usage.cacheWriteHourTokens ?? 0, cacheWriteTokens);
  const { longPrompt } = facts;
  const prices = longPrompt && sumPromptTokens(usage) > longPrompt.above ? longPrompt.prices : facts.prices;
  const dollars =
    (inputTokens * prices.input +
      outputTokens * prices.output +
      cacheReadTokens * prices.cacheRead +
      (cacheWriteTokens - hourTokens) * prices.cacheWrite +
      hourTokens * prices.cacheWriteHour) /
    PER_MILLION;
  return dollars * (usage.priceFactor ?? 1) + (usage.webSearches ?? 0) * DOLLARS_PER_SEARCH;
}

/**
 * Money spent on a reported request, in US dollars: the cost that the provider named, else the prices of its model.
 * Undefined if both are unknown.
 */
export function computeReportCost(
  report: Pick<UsageBody, "usage" | "model">,
  factsOf: (model: string) => ModelFacts | undefined,
): number | undefined {
  checkKind("factsOf", factsOf, "function");
  const { usage, model } = checkFields("report", report, { usage: "object" });
  if (usage.cost !== undefined) return usage.cost;
  let sum = 0;
  for (const call of [usage, ...(usage.otherCalls ?? [])]) {
    const name = ("model" in call ? call.model : undefined) ?? model;
    const facts = name === undefined ? undefined : factsOf(name);
    if (!facts || facts.arePricesAssumed) return undefined;
    sum += computeUsageCost(call, facts);
  }
  return sum;
}
