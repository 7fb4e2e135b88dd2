import { createArgumentError } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import type { Message } from "../../model/message.ts";
import type { TokenEstimator } from "../apply-edits.ts";
import type { ModelCatalog } from "../models/model-catalog.ts";
import type { ModelFacts } from "../models/model-data.ts";
import { applyOverrides } from "../models/model-facts.ts";
import { checkModelTable, findModelSettings, type ModelSettings } from "../models/model-settings.ts";
import { DEFAULT_CACHE_PRICES } from "../money/break-even.ts";
import type { ImageLimits } from "../passes/stub-stale-images.ts";
import { POLICIES } from "../policies/known-policies.ts";
import type { CachePrices, Policy } from "../policy.ts";
import { resolveShrinkFilters, type ShrinkFilter } from "../shrink/shrink-filters.ts";
import { type Slot, sumSlotTokens } from "../slot.ts";
import { estimateMessage, estimateText, tokensOfMessage } from "../tokens/estimate.ts";
import { chooseStartFactor } from "../tokens/start-factor.ts";
import type { Meter } from "./meter.ts";
import type { WindowOptions } from "./session-window-options.ts";
import { computeWindowLimits, type WindowLimits } from "./window-limits.ts";

/** Validated options of a window, with all lookups resolved. */
export interface WindowSettings {
  readonly model: string;
  readonly facts: ModelFacts;
  /** Settings of the model from the models tables. */
  readonly modelSettings: ModelSettings;
  readonly limits: WindowLimits;
  /** Output tokens that requests ask for; undefined if the caller did not say. */
  readonly requestedOutputTokens: number | undefined;
  readonly policy: Policy;
  /** Estimated tokens. */
  readonly system: number;
  readonly tools: number;
  /** True if the caller has given both, so everything before the messages is estimated. */
  readonly isFrameKnown: boolean;
  /** Estimated tokens of memories sent with the system prompt; changes along with them. */
  readonly memories: number;
  readonly images: ImageLimits;
  readonly isClipping: boolean;
  readonly isPaging: boolean;
  /** Undefined to leave the choice to the policy. */
  readonly shrinkFilters: ReadonlySet<ShrinkFilter> | undefined;
  readonly tokensOf: TokenEstimator;
}

/**
 * Validates options and resolves defaults; settings of a model override general options. If the window has summaries,
 * the model's threshold applies to them and not to the policy.
 */
export function resolveWindowSettings(
  given: WindowOptions,
  catalogue: ModelCatalog,
  hasSummaries = false,
): WindowSettings {
  if (typeof given?.model !== "string" || given.model === "")
    throw createArgumentError("model", given?.model, "the id of a model");
  const { model, tokenizer } = given;
  const set = {
    ...catalogue.getSettings(model),
    ...findModelSettings(model, checkModelTable(given.models ?? {})),
  };
  const options = { ...given, ...set };
  const facts = applyOverrides(catalogue.getFacts(model), set);
  return {
    model,
    facts,
    modelSettings: set,
    limits: computeWindowLimits(
      facts,
      hasSummaries ? { ...options, threshold: given.threshold ?? 100 } : options,
    ),
    requestedOutputTokens: options.maxOutputTokens,
    policy: resolvePolicy(options.policy ?? "longhaul"),
    system: estimateSetting("system", options.system, model),
    tools: estimateSetting("tools", options.tools, model),
    isFrameKnown: options.system !== undefined && options.tools !== undefined,
    memories: 0,
    images: checkImages(options.images ?? {}),
    isClipping: isClipping(options.oversize ?? "error"),
    isPaging: options.paging ?? true,
    shrinkFilters: options.shrink === undefined ? undefined : resolveShrinkFilters(options.shrink),
    tokensOf: countOnce(tokenizer ? (message) => tokensOfMessage(message, tokenizer) : estimateMessage),
  };
}

/** Counts a message once, although a window is loaded, planned and measured from it. */
function countOnce(count: TokenEstimator): TokenEstimator {
  const known = new WeakMap<Message, number>();
  return (message) => {
    const tokens = known.get(message) ?? count(message);
    known.set(message, tokens);
    return tokens;
  };
}

/** Resolves a policy name; throws ARGUMENT_INVALID if it is unknown. */
function resolvePolicy(policy: string | Policy): Policy {
  if (typeof policy !== "string") {
    if (typeof policy?.start === "function" && typeof policy.name === "string") return policy;
    throw createArgumentError("policy", policy, "a name, or an object with name and start");
  }
  const found = POLICIES.find(({ name }) => name === policy);
  if (found) return found;
  throw createArgumentError("policy", policy, `one of ${POLICIES.map(({ name }) => name).join(", ")}`);
}

function isClipping(oversize: string): boolean {
  if (oversize === "clip" || oversize === "error") return oversize === "clip";
  throw createArgumentError("oversize", oversize, '"error" or "clip"');
}

function checkImages(images: ImageLimits): ImageLimits {
  for (const name of ["maxBytes", "maxCount"] as const) {
    const { [name]: value = 0 } = images;
    if (!(value >= 0)) throw createArgumentError(`images.${name}`, value, "a number from 0 on");
  }
  return images;
}

/** Reads that cost nothing, so that no edit for money can pay. */
const UNKNOWN_CACHE_PRICES: CachePrices = { read: 0, write: DEFAULT_CACHE_PRICES.write };

/** Cache prices relative to plain input. While prices are assumed, nothing is edited for money. */
export function computeCachePrices({ prices, arePricesAssumed }: ModelFacts): CachePrices {
  if (arePricesAssumed || prices.input <= 0) return UNKNOWN_CACHE_PRICES;
  return { read: prices.cacheRead / prices.input, write: prices.cacheWrite / prices.input };
}

/** A number is in the provider's count, so convert it to an estimate like all other tokens here. */
function estimateSetting(name: string, value: Json | undefined, model: string): number {
  if (value === undefined) return 0;
  if (typeof value === "string") return estimateText(value);
  if (typeof value !== "number") return estimateText(JSON.stringify(value));
  if (value >= 0 && Number.isFinite(value)) return value / chooseStartFactor(model);
  throw createArgumentError(name, value, "words, or a number of tokens");
}

type FrameTokens = Pick<WindowSettings, "system" | "tools" | "memories">;

/** Estimated tokens of a request: its messages, system prompt, tools and memories. */
export function estimateRequest({ system, tools, memories }: FrameTokens, slots: readonly Slot[]): number {
  return system + tools + memories + sumSlotTokens(slots);
}

/** Tokens of a request with these messages, as the provider is expected to count them. */
export function countRequest(frame: FrameTokens, meter: Meter, slots: readonly Slot[]): number {
  return meter.counted(estimateRequest(frame, slots));
}

/** Counts windows of a session by `countRequest`, for callers that do not fit one. */
export type WindowCounter = (slots: readonly Slot[]) => number;
