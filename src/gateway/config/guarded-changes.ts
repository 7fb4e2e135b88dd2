import { isDeepStrictEqual } from "node:util";
import type { GatewayConfig } from "./config.ts";

/** Settings that decide who is admitted, where requests and keys go, and which data leaves the machine. */
const GUARDED_KEYS = [
  "upstreams",
  "tokens",
  "team",
  "allowedOrigins",
  "allowedHosts",
  "telemetry",
  "redact",
] as const satisfies readonly (keyof GatewayConfig)[];

type GuardedKey = (typeof GUARDED_KEYS)[number];

/** Guarded settings that saving the file does not change: all of them, unless the change only restricts something. */
export function findGuardedChanges(now: GatewayConfig, next: GatewayConfig): readonly GuardedKey[] {
  return GUARDED_KEYS.filter(
    (key) => !isDeepStrictEqual(now[key], next[key]) && !isNarrowing(key, now, next),
  );
}

/** True if a change admits fewer callers or sends out less data. */
function isNarrowing(key: GuardedKey, now: GatewayConfig, next: GatewayConfig): boolean {
  switch (key) {
    case "tokens":
      // Removing the last token would open the gateway to everyone.
      return next.tokens.length > 0 && isPartOf(next.tokens, now.tokens);
    case "allowedOrigins":
    case "allowedHosts":
      return isPartOf(next[key], now[key]);
    case "telemetry":
      return next.telemetry.endpoint === undefined;
    case "team":
      return next.team;
    case "redact":
      return next.redact;
    case "upstreams":
      return false;
  }
}

function isPartOf(some: readonly unknown[], all: readonly unknown[]): boolean {
  return some.every((one) => all.some((other) => isDeepStrictEqual(one, other)));
}
