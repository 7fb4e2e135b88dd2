import { createRequire } from "node:module";
import type {
  calcPrice as CalcPrice,
  ModelPrice,
  PriceCalculation,
  TieredPrices,
} from "@pydantic/genai-prices";
import { ASSUMED_FACTS } from "./assumed-facts.ts";
import type { ModelFacts, Prices } from "./facts.ts";
import { findKnown, type NamedFacts, withAskedWindow } from "./known-models.ts";
import type { Catalogue } from "./model-facts.ts";
import { plainModelId } from "./model-id.ts";

/** Asks the package for a model; null where it has none. */
type Ask = (id: string, providerId?: string) => PriceCalculation | null;

let calcPrice: typeof CalcPrice | undefined;

/**
 * The catalogue of the package @pydantic/genai-prices, loaded when a model is looked up for the first time: windows and
 * prices as they are today, of several hundred models. Output limits, and what the package lacks, come from our own table.
 */
export function genaiPrices(): Catalogue {
  return (id) => {
    const facts = merged(find(ask, id), findKnown(id));
    return facts && withAskedWindow(facts, id);
  };
}

/** Looked up in the midst of synchronous decisions, so the package cannot be awaited. */
const ask: Ask = (id, providerId) => {
  calcPrice ??= createRequire(import.meta.url)("@pydantic/genai-prices").calcPrice as typeof CalcPrice;
  return calcPrice({}, id, providerId === undefined ? {} : { providerId });
};

/** By its plain name, whoever serves it; else as a router lists it, with its vendor. */
function find(ask: Ask, id: string): PriceCalculation | undefined {
  const { name } = plainModelId(id);
  const route = id.trim().toLowerCase().split("/").slice(-2);
  return ask(name) ?? (route.length === 2 ? ask(route.join("/"), "openrouter") : undefined) ?? undefined;
}

/** The more particular name wins, for the package counts "claude-sonnet-5-5" as a "claude-sonnet-5"; else the package. */
function merged(listed: PriceCalculation | undefined, known: NamedFacts | undefined): ModelFacts | undefined {
  if (!listed || listed.model_price.input_mtok === undefined) return known?.facts;
  const listedName = plainModelId(listed.model.id).name.replace(/-latest$/, "");
  if (known && known.name !== listedName && known.name.startsWith(listedName)) return known.facts;
  const window = listed.model.context_window ?? known?.facts.window;
  const above = longPromptOf(listed.model_price);
  return {
    window: window ?? ASSUMED_FACTS.window,
    maxOutput:
      known?.facts.maxOutput ?? Math.min(ASSUMED_FACTS.maxOutput, window ?? Number.POSITIVE_INFINITY),
    prices: pricesOf(listed.model_price, 0),
    ...(above !== undefined && { longPrompt: { above, prices: pricesOf(listed.model_price, above + 1) } }),
    ...(window === undefined && { isWindowAssumed: true }),
  };
}

/** Prices of a prompt of so many tokens. What is not listed costs what other input does. */
function pricesOf(listed: ModelPrice, promptTokens: number): Prices {
  const at = (price: number | TieredPrices | undefined) => priceAt(price, promptTokens);
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

function priceAt(price: number | TieredPrices | undefined, promptTokens: number): number | undefined {
  if (price === undefined || typeof price === "number") return price;
  return price.tiers.findLast(({ start }) => promptTokens > start)?.price ?? price.base;
}

function longPromptOf({ input_mtok: input }: ModelPrice): number | undefined {
  return typeof input === "object" ? input.tiers[0]?.start : undefined;
}
