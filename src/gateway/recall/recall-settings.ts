import type { WireName } from "../../wire/wire.ts";
import type { GatewayConfig, RecallMode } from "../config/config.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";

/** The kinds of recall that a conversation gets. */
interface RecallSettings {
  readonly tools: RecallMode;
  readonly context: boolean;
}

const NO_RECALL: RecallSettings = { tools: "off", context: false };

/** The settings for requests of an API. Requests that a client makes for itself get no recall. */
export function getRecallSettings(
  { recall, routes, dryRun }: GatewayConfig,
  api: WireName,
  kind: ThreadKind,
): RecallSettings {
  const isTalk = kind === "main" || kind === "agent";
  if (dryRun || !isTalk) return NO_RECALL;
  const own = routes[api]?.recall;
  return own ? { ...recall, ...own } : recall;
}
