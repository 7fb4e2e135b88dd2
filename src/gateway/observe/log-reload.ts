import type { ReloadResult } from "../config/watch-config.ts";
import type { GatewayLog } from "./gateway-log.ts";

/** Logs the result of a reload: one line for each invalid setting, or one for each message. */
export function logReload(log: GatewayLog, { outcome, messages, problems }: ReloadResult): void {
  if (problems) {
    for (const { key, message } of problems)
      log.error("config.refused", { key, message: `The configuration is unchanged: ${message}` });
    return;
  }
  for (const message of messages)
    if (outcome === "refused") log.error("config.refused", { message });
    else log.info("config.changed", { message });
}
