import type { Usage } from "../../index.ts";
import { dropUndefined, toNumber, toObject, toText } from "../../wire/fields.ts";
import type { RecordItem } from "../port/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { buildEventRecord, type CopilotEvent } from "./copilot-event.ts";

/** Output tokens by model that messages have reported since the session was started or resumed. */
export type ReportedOutput = { readonly [model: string]: number };

const MAX_MODELS = 64;

/** Reads the usage of a message: only its output. The rest is reported at shutdown. */
export function decodeMessageUsage(event: CopilotEvent): RecordItem | undefined {
  const outputTokens = toNumber(event.data.outputTokens);
  if (outputTokens === undefined) return undefined;
  const [model, request] = [toText(event.data.model), toText(event.data.apiCallId)];
  return buildEventRecord(
    event,
    { kind: "usage", usage: { outputTokens }, ...dropUndefined({ model, request }) },
    ":usage",
  );
}

/** Adds the output of a message to the sum. */
export function addOutput(before: ReportedOutput, { data }: CopilotEvent): ReportedOutput {
  const [model, count] = [toText(data.model), toNumber(data.outputTokens)];
  if (model === undefined || count === undefined) return before;
  if (!Object.hasOwn(before, model) && Object.keys(before).length >= MAX_MODELS) return before;
  const sums = new Map(Object.entries(before));
  return Object.fromEntries(sums.set(model, (sums.get(model) ?? 0) + count));
}

/** Reads the usage reported at shutdown, minus the output that messages have reported. */
export function* decodeShutdownUsage(event: CopilotEvent, soFar: ReportedOutput): Generator<RecordItem> {
  for (const [model, value] of Object.entries(toObject(event.data.modelMetrics) ?? {})) {
    const counts = toObject(toObject(value)?.usage);
    if (!counts) continue;
    const usage = toUsage(counts);
    const known = Object.hasOwn(soFar, model) ? (soFar[model] ?? 0) : 0;
    const outputTokens = Math.max(0, (usage.outputTokens ?? 0) - known);
    yield buildEventRecord(
      event,
      { kind: "usage", usage: { ...usage, outputTokens }, model },
      `:usage:${model}`,
    );
  }
}

/** Reads the usage of a compaction itself. */
export function decodeCompactionUsage(event: CopilotEvent): RecordItem | undefined {
  const counts = toObject(event.data.compactionTokensUsed);
  if (!counts) return undefined;
  const [model, request] = [toText(counts.model), toText(event.data.requestId)];
  return buildEventRecord(
    event,
    { kind: "usage", usage: toUsage(counts), ...dropUndefined({ model, request }) },
    ":usage",
  );
}

/** Converts usage: Copilot counts cache reads and writes as input, whatever the provider. */
function toUsage(counts: JsonObject): Usage {
  const input = toNumber(counts.inputTokens) ?? toNumber(counts.input);
  const cacheReadTokens = toNumber(counts.cacheReadTokens) ?? toNumber(counts.cachedInput);
  const cacheWriteTokens = toNumber(counts.cacheWriteTokens);
  const cached = (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
  return dropUndefined({
    inputTokens: input === undefined ? undefined : Math.max(0, input - cached),
    outputTokens: toNumber(counts.outputTokens) ?? toNumber(counts.output),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: toNumber(counts.reasoningTokens),
  });
}
