import type { WireName } from "../../../wire/wire.ts";
import type { GatewayConfig, RecallOffer } from "../config/config.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";

/** The kinds of recall that a conversation gets. */
export interface RecallSettings {
  /** When tools are offered: by price where nothing is set; "kept" are tools that the conversation has already. */
  readonly offer: RecallOffer | "by price" | "kept";
  readonly context: boolean;
}

const NO_RECALL: RecallSettings = { offer: "never", context: false };

/**
 * The settings for requests of an API. Requests that a client makes for itself get no recall. Where nothing is set, the
 * price decides, but a gateway that edits nothing adds no tools.
 */
export function getRecallSettings(
  { recall, routes, dryRun, policy }: GatewayConfig,
  api: WireName,
  kind: ThreadKind,
): RecallSettings {
  const isTalk = kind === "main" || kind === "agent";
  if (dryRun || (!isTalk && kind !== "compaction")) return NO_RECALL;
  const own = routes[api] ?? {};
  const offer =
    own.recall?.offer ?? recall.offer ?? ((own.policy ?? policy) === "none" ? "edit" : "by price");
  // A summary of a conversation that has the tools keeps them, so that the provider finds its prompt in the cache.
  if (!isTalk) return { offer: offer === "never" ? offer : "kept", context: false };
  const context = own.recall?.context ?? recall.context ?? false;
  return { offer, context };
}
