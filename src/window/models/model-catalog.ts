import { checkFields, checkKind } from "../../model/argument-checks.ts";
import { BoundedMap } from "../../model/base/caches.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { UsageBody } from "../../model/entry.ts";
import { sumPromptTokens, type Usage } from "../../model/usage.ts";
import type { ModelFacts } from "./model-data.ts";
import { type Catalog, modelFacts } from "./model-facts.ts";
import { checkModelTable, findModelSettings, type ModelSettings, type ModelTable } from "./model-settings.ts";

/** Sources of a kernel's model facts and settings. */
interface ModelCatalogOptions {
  /** Defaults to the built-in table. */
  readonly catalogue?: Catalog;
  /** The user's own facts and settings, by model. */
  readonly models?: ModelTable;
  /** Called once per model whose window had to be assumed, with a message for people. */
  readonly onWarning?: (warning: string) => void;
}

/** Facts and settings of models. */
export interface ModelCatalog {
  getFacts(id: string): ModelFacts;
  getSettings(id: string): ModelSettings;
}

const REMEMBERED_FACTS = 256;
/** Some prices change by day and hour. */
const FACTS_AGE_MS = 600_000;
const REMEMBERED_WARNINGS = 1_024;

/**
 * Creates a catalogue that caches facts for ten minutes and warns once per model; it remembers the last 1,024 models it
 * warned about.
 */
export function createModelCatalog({
  catalogue,
  models = {},
  onWarning,
}: ModelCatalogOptions = {}): ModelCatalog {
  const table = checkModelTable(models);
  const known = new BoundedMap<string, ModelFacts>({ max: REMEMBERED_FACTS, maxAgeMs: FACTS_AGE_MS });
  const warned = new BoundedMap<string, true>({ max: REMEMBERED_WARNINGS });

  function warnOnce(id: string, warning: string): void {
    if (warned.use(id)) return;
    warned.set(id, true);
    onWarning?.(warning);
  }

  return {
    getFacts: (id) => {
      const remembered = known.use(id);
      if (remembered) return remembered;
      const facts = modelFacts(id, {
        ...dropUndefined({ catalogue }),
        overrides: findModelSettings(id, table),
        onUnknown: (warning) => warnOnce(id, warning),
      });
      known.set(id, facts);
      return facts;
    },
    getSettings: (id) => findModelSettings(id, table),
  };
}

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
