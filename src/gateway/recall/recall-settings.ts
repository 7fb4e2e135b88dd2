import type { ModelFacts } from "../../window-entry.ts";
import type { WireName } from "../../wire/wire.ts";
import type { GatewayConfig, RecallOffer } from "../config/config.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";

/** The kinds of recall that a conversation gets. */
interface RecallSettings {
  readonly offer: RecallOffer;
  readonly context: boolean;
}

const NO_RECALL: RecallSettings = { offer: "never", context: false };

/** A model whose cached tokens cost at most this share of fresh ones is offered tools from the start. */
const CHEAP_READ_SHARE = 0.5;

/**
 * The settings for requests of an API. Requests that a client makes for itself get no recall. If none is set, tools are
 * offered from the start where their tokens, repeated in every request, are read from a cache; otherwise from the first
 * edit on.
 */
export function getRecallSettings(
  { recall, routes, dryRun }: GatewayConfig,
  api: WireName,
  kind: ThreadKind,
  facts?: ModelFacts,
): RecallSettings {
  const isTalk = kind === "main" || kind === "agent";
  if (dryRun || !isTalk) return NO_RECALL;
  const own = routes[api]?.recall;
  const prices = facts && !facts.arePricesAssumed ? facts.prices : undefined;
  const isCheap = prices !== undefined && prices.cacheRead <= prices.input * CHEAP_READ_SHARE;
  const offer = own?.offer ?? recall.offer ?? (isCheap ? "start" : "edit");
  const context = own?.context ?? recall.context ?? false;
  return { offer, context };
}
