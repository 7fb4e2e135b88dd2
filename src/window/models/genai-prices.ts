import { createRequire } from "node:module";
import type {
  calcPrice as CalcPrice,
  ModelPrice,
  PriceCalculation,
  TieredPrices,
} from "@pydantic/genai-prices";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { parseModelId } from "../../model/model-id.ts";
import { ASSUMED_FACTS } from "./assumed-facts.ts";
import { applyRequestedWindow, findKnownEntry, type NamedFacts } from "./known-models.ts";
import type { ModelFacts, Prices } from "./model-data.ts";
import type { Catalog } from "./model-facts.ts";

/** Looks up a model in the package; null if the package does not know it. */
type PriceLookup = (id: string, providerId?: string) => PriceCalculation | null;

let calcPrice: typeof CalcPrice | undefined;

/**
 * Catalogue of the package @pydantic/genai-prices, loaded on the first lookup: current windows and prices of several
 * hundred models. Output limits, and facts that the package lacks, come from our own table.
 */
export function genaiPrices(): Catalog {
  return (id) => {
    const facts = mergeFacts(findListedModel(lookUpPrice, id), findKnownEntry(id));
    return facts && applyRequestedWindow(facts, id);
  };
}

/** Lookups happen inside synchronous decisions, so the package cannot be loaded with `await`. */
const lookUpPrice: PriceLookup = (id, providerId) => {
  calcPrice ??= createRequire(import.meta.url)("@pydantic/genai-prices").calcPrice as typeof CalcPrice;
  return calcPrice({}, id, providerId === undefined ? {} : { providerId });
};

/** Finds a model by its plain name, or else by vendor and name as OpenRouter lists it. */
function findListedModel(ask: PriceLookup, id: string): PriceCalculation | undefined {
  const { name } = parseModelId(id);
  const route = id.trim().toLowerCase().split("/").slice(-2);
  return ask(name) ?? (route.length === 2 ? ask(route.join("/"), "openrouter") : undefined) ?? undefined;
}

/**
 * Prefers our own facts if their name is more specific, because the package treats "claude-sonnet-5-5" as
 * "claude-sonnet-5"; otherwise prefers the package.
 */
function mergeFacts(
  listed: PriceCalculation | undefined,
  known: NamedFacts | undefined,
): ModelFacts | undefined {
  if (!listed || listed.model_price.input_mtok === undefined) return known?.facts;
  const listedName = parseModelId(listed.model.id).name.replace(/-latest$/, "");
  if (known && known.name !== listedName && known.name.startsWith(listedName)) return known.facts;
  const window = listed.model.context_window ?? known?.facts.window;
  const above = getLongPromptStart(listed.model_price);
  return dropUndefined({
    cacheMs: known?.facts.cacheMs,
    window: window ?? ASSUMED_FACTS.window,
    maxOutput:
      known?.facts.maxOutput ?? Math.min(ASSUMED_FACTS.maxOutput, window ?? Number.POSITIVE_INFINITY),
    prices: toPrices(listed.model_price, 0),
    longPrompt: above !== undefined ? { above, prices: toPrices(listed.model_price, above + 1) } : undefined,
    isWindowAssumed: window === undefined ? true : undefined,
  });
}

/** Prices for a prompt of `promptTokens`. Unlisted cache prices default to the input price. */
function toPrices(listed: ModelPrice, promptTokens: number): Prices {
  const at = (price: number | TieredPrices | undefined) => getPriceAt(price, promptTokens);
  const input = at(listed.input_mtok) ?? 0;
  const cacheWrite = at(listed.cache_write_mtok) ?? input;
  return {
    input,
    output: at(listed.output_mtok) ?? 0,
    cacheRead: at(listed.cache_read_mtok) ?? input,
    cacheWrite,
    cacheWriteHour: at(listed.cache_write_1h_mtok) ?? cacheWrite,
  };
}

function getPriceAt(price: number | TieredPrices | undefined, promptTokens: number): number | undefined {
  if (price === undefined || typeof price === "number") return price;
  return price.tiers.findLast(({ start }) => promptTokens > start)?.price ?? price.base;
}

function getLongPromptStart({ input_mtok: input }: ModelPrice): number | undefined {
  return typeof input === "object" ? input.tiers[0]?.start : undefined;
}
