import type { Usage } from "../../index.ts";
import { dropUndefined, toNumber, toObject } from "../../wire/fields.ts";

/** Converts tokens and cost of a step or message; undefined if all are zero. */
export function decodeOpencodeUsage(tokens: unknown, cost: unknown): Usage | undefined {
  const fields = toObject(tokens);
  const cache = toObject(fields?.cache);
  const reasoning = toNumber(fields?.reasoning);
  const counts = {
    inputTokens: toNumber(fields?.input),
    outputTokens: toNumber(fields?.output),
    cacheReadTokens: toNumber(cache?.read),
    cacheWriteTokens: toNumber(cache?.write),
  };
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = counts;
  const sum = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  // Most versions include reasoning in the output; it is added if the total or the counts show otherwise.
  const isApart =
    reasoning !== undefined &&
    reasoning > 0 &&
    (fields?.total === sum + reasoning || reasoning > outputTokens);
  const usage = dropUndefined({
    ...counts,
    outputTokens: isApart ? outputTokens + reasoning : counts.outputTokens,
    reasoningTokens: reasoning,
    cost: toNumber(cost),
  });
  return Object.values(usage).some((count) => count !== 0) ? usage : undefined;
}

/** Returns the reported total if it does not follow from the counts. */
export function findOddTotal(tokens: unknown): number | undefined {
  const fields = toObject(tokens);
  const cache = toObject(fields?.cache);
  const total = toNumber(fields?.total);
  const counts = [fields?.input, fields?.output, cache?.read, cache?.write];
  const sum = counts.reduce<number>((all, count) => all + (toNumber(count) ?? 0), 0);
  return total === sum || total === sum + (toNumber(fields?.reasoning) ?? 0) ? undefined : total;
}
