import type { ApiName } from "../api/api.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";

/** What is recalled for a conversation. */
export interface RecallSettings {
  readonly tools: boolean;
  readonly context: boolean;
}

const NOTHING: RecallSettings = { tools: false, context: false };

/** What is recalled for requests of an API. Questions of a client itself, beside a conversation, get nothing. */
export function recallSettings(
  { recall, routes, dryRun }: GatewayConfig,
  api: ApiName,
  kind: ThreadKind,
): RecallSettings {
  const isTalk = kind === "main" || kind === "agent";
  return dryRun || !isTalk ? NOTHING : { ...recall, ...routes[api]?.recall };
}
