import type { Usage } from "../../index.ts";
import { definedFields, numberOf, objectOf, textOf } from "../content/fields.ts";
import type { RecordItem } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { type CopilotEvent, recordOf } from "./event.ts";

/** Output tokens by model that messages have reported since the session was started or resumed. */
export type OutputSoFar = { readonly [model: string]: number };

const MAX_MODELS = 64;

/** Reads the usage of a message: only its output. The rest is reported at shutdown. */
export function usageOfMessage(event: CopilotEvent): RecordItem | undefined {
  const outputTokens = numberOf(event.data.outputTokens);
  if (outputTokens === undefined) return undefined;
  const [model, request] = [textOf(event.data.model), textOf(event.data.apiCallId)];
  return recordOf(
    event,
    { kind: "usage", usage: { outputTokens }, ...definedFields({ model, request }) },
    ":usage",
  );
}

/** Adds the output of a message to the sum. */
export function addOutput(before: OutputSoFar, { data }: CopilotEvent): OutputSoFar {
  const [model, count] = [textOf(data.model), numberOf(data.outputTokens)];
  if (model === undefined || count === undefined) return before;
  if (!Object.hasOwn(before, model) && Object.keys(before).length >= MAX_MODELS) return before;
  const sums = new Map(Object.entries(before));
  return Object.fromEntries(sums.set(model, (sums.get(model) ?? 0) + count));
}

/** Reads the usage reported at shutdown, minus the output that messages have reported. */
export function* usageOfShutdown(event: CopilotEvent, soFar: OutputSoFar): Generator<RecordItem> {
  for (const [model, value] of Object.entries(objectOf(event.data.modelMetrics) ?? {})) {
    const counts = objectOf(objectOf(value)?.usage);
    if (!counts) continue;
    const usage = usageOf(counts);
    const known = Object.hasOwn(soFar, model) ? (soFar[model] ?? 0) : 0;
    const outputTokens = Math.max(0, (usage.outputTokens ?? 0) - known);
    yield recordOf(event, { kind: "usage", usage: { ...usage, outputTokens }, model }, `:usage:${model}`);
  }
}

/** Reads the usage of a compaction itself. */
export function usageOfCompaction(event: CopilotEvent): RecordItem | undefined {
  const counts = objectOf(event.data.compactionTokensUsed);
  if (!counts) return undefined;
  const [model, request] = [textOf(counts.model), textOf(event.data.requestId)];
  return recordOf(
    event,
    { kind: "usage", usage: usageOf(counts), ...definedFields({ model, request }) },
    ":usage",
  );
}

/** Converts usage: Copilot counts cache reads and writes as input, whatever the provider. */
function usageOf(counts: JsonObject): Usage {
  const input = numberOf(counts.inputTokens) ?? numberOf(counts.input);
  const cacheReadTokens = numberOf(counts.cacheReadTokens) ?? numberOf(counts.cachedInput);
  const cacheWriteTokens = numberOf(counts.cacheWriteTokens);
  const cached = (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
  return definedFields({
    inputTokens: input === undefined ? undefined : Math.max(0, input - cached),
    outputTokens: numberOf(counts.outputTokens) ?? numberOf(counts.output),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: numberOf(counts.reasoningTokens),
  });
}
