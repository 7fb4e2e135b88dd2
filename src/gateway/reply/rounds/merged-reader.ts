import type { Kernel, Usage } from "../../../index.ts";
import { computeUsageCost, type ModelFacts } from "../../../window-entry.ts";
import type { ReplyReader, Wire, WireObject } from "../../../wire/wire.ts";

/**
 * A reader of the reply that the client sees for several rounds. Its usage is that of the first round sent with the
 * current window, with the output tokens and cost of all rounds.
 */
export function createMergedReader(
  api: Wire,
  kernel: Pick<Kernel, "modelFacts">,
  rounds: { readonly usages: readonly WireObject[]; readonly windowRound: number },
): ReplyReader {
  const reader = api.createReader();
  const get = (): Usage | undefined => {
    const { usages, windowRound } = rounds;
    if (usages.length <= 1) return reader.usage;
    const facts = reader.model === undefined ? undefined : kernel.modelFacts(reader.model);
    return sumUsage(
      usages.map((usage) => api.parseUsage(usage)),
      windowRound,
      facts && !facts.arePricesAssumed ? facts : undefined,
    );
  };
  return Object.create(reader, { usage: { get, enumerable: true } });
}

function sumUsage(
  rounds: readonly (Usage | undefined)[],
  windowRound: number,
  facts: ModelFacts | undefined,
): Usage | undefined {
  const usages = rounds.filter((usage) => usage !== undefined);
  const first = rounds[windowRound] ?? usages[0];
  if (!first) return undefined;
  const output = usages.map(({ outputTokens }) => outputTokens ?? 0);
  const costs = usages.map((usage) => usage.cost ?? (facts && computeUsageCost(usage, facts)));
  const isPriced = costs.every((cost) => cost !== undefined);
  return {
    ...first,
    outputTokens: output.reduce((sum, tokens) => sum + tokens, 0),
    ...(isPriced && { cost: costs.reduce((sum, cost) => sum + cost, 0) }),
  };
}
