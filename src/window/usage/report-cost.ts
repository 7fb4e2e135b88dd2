import { checkFields, checkKind } from "../../model/argument-checks.ts";
import type { UsageBody } from "../../model/entry.ts";
import { computeUsageCost } from "../models/compute-usage-cost.ts";
import type { ModelFacts } from "../models/model-data.ts";

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
