import { anthropicUsage, openaiUsage } from "../../formats/wire/usage.ts";
import { costOfUsage, type Kernel, type ModelFacts, type Usage } from "../../index.ts";
import type { Api, ApiName, JsonObject, ReplyReader } from "../api/api.ts";

/**
 * A reader of what the client sees of several rounds. Its usage is the first round's, which is what the window was sent
 * for, with the output and the cost of all.
 */
export function joinedReader(
  api: Api,
  kernel: Pick<Kernel, "modelFacts">,
  rounds: { readonly usages: readonly JsonObject[] },
): ReplyReader {
  const reader = api.makeReader();
  const get = (): Usage | undefined => {
    const { usages } = rounds;
    if (usages.length <= 1) return reader.usage;
    const facts = reader.model === undefined ? undefined : kernel.modelFacts(reader.model);
    return sumOf(
      usages.flatMap((usage) => usageOf(api.name, usage) ?? []),
      facts && !facts.arePricesAssumed ? facts : undefined,
    );
  };
  return Object.create(reader, { usage: { get, enumerable: true } });
}

function usageOf(api: ApiName, usage: JsonObject): Usage | undefined {
  const body = api === "anthropic" ? anthropicUsage(usage, {}) : openaiUsage(usage, {});
  return body?.kind === "usage" ? body.usage : undefined;
}

function sumOf(usages: readonly Usage[], facts: ModelFacts | undefined): Usage | undefined {
  const [first] = usages;
  if (!first) return undefined;
  const output = usages.map(({ outputTokens }) => outputTokens ?? 0);
  const costs = usages.map((usage) => usage.cost ?? (facts && costOfUsage(usage, facts)));
  const isPriced = costs.every((cost) => cost !== undefined);
  return {
    ...first,
    outputTokens: output.reduce((sum, tokens) => sum + tokens, 0),
    ...(isPriced && { cost: costs.reduce((sum, cost) => sum + cost, 0) }),
  };
}
