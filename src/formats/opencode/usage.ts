import type { Usage } from "../../index.ts";
import { definedFields, numberOf, objectOf } from "../content/fields.ts";

/** Converts tokens and cost of a step or message; undefined if all are zero. */
export function usageOfTokens(tokens: unknown, cost: unknown): Usage | undefined {
  const fields = objectOf(tokens);
  const cache = objectOf(fields?.cache);
  const reasoning = numberOf(fields?.reasoning);
  const counts = {
    inputTokens: numberOf(fields?.input),
    outputTokens: numberOf(fields?.output),
    cacheReadTokens: numberOf(cache?.read),
    cacheWriteTokens: numberOf(cache?.write),
  };
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = counts;
  const sum = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  // Most versions include reasoning in the output; it is added if the total or the counts show otherwise.
  const isApart =
    reasoning !== undefined &&
    reasoning > 0 &&
    (fields?.total === sum + reasoning || reasoning > outputTokens);
  const usage = definedFields({
    ...counts,
    outputTokens: isApart ? outputTokens + reasoning : counts.outputTokens,
    reasoningTokens: reasoning,
    cost: numberOf(cost),
  });
  return Object.values(usage).some((count) => count !== 0) ? usage : undefined;
}

/** Returns the reported total if it does not follow from the counts. */
export function oddTotalOf(tokens: unknown): number | undefined {
  const fields = objectOf(tokens);
  const cache = objectOf(fields?.cache);
  const total = numberOf(fields?.total);
  const counts = [fields?.input, fields?.output, cache?.read, cache?.write];
  const sum = counts.reduce<number>((all, count) => all + (numberOf(count) ?? 0), 0);
  return total === sum || total === sum + (numberOf(fields?.reasoning) ?? 0) ? undefined : total;
}
