import type { WireName } from "../../../wire/wire.ts";
import type { GatewayConfig, RecallOffer } from "../config/config.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";

/** The kinds of recall that a conversation gets. */
interface RecallSettings {
  readonly offer: RecallOffer;
  readonly context: boolean;
}

const NO_RECALL: RecallSettings = { offer: "never", context: false };

/**
 * The settings for requests of an API. Requests that a client makes for itself get no recall. If none is set, tools are
 * offered from the first edit on: until then nothing has left the window, and the tools would only add to the price of a
 * short conversation.
 */
export function getRecallSettings(
  { recall, routes, dryRun }: GatewayConfig,
  api: WireName,
  kind: ThreadKind,
): RecallSettings {
  const isTalk = kind === "main" || kind === "agent";
  if (dryRun || !isTalk) return NO_RECALL;
  const own = routes[api]?.recall;
  const offer = own?.offer ?? recall.offer ?? "edit";
  const context = own?.context ?? recall.context ?? false;
  return { offer, context };
}
