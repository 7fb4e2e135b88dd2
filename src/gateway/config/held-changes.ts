import { isDeepStrictEqual } from "node:util";
import type { GatewayConfig } from "./config.ts";

/** Settings that decide who is let in, where requests and keys go, and what leaves the machine. */
export const GUARDED = [
  "upstreams",
  "tokens",
  "allowedOrigins",
  "allowedHosts",
  "telemetry",
  "redact",
] as const satisfies readonly (keyof GatewayConfig)[];

type Guarded = (typeof GUARDED)[number];

/** Settings that a saved file alone does not change: all guarded ones, unless the change only takes something away. */
export function heldChanges(now: GatewayConfig, next: GatewayConfig): readonly Guarded[] {
  return GUARDED.filter((key) => !isDeepStrictEqual(now[key], next[key]) && !narrows(key, now, next));
}

/** Tells whether a change lets fewer callers in, or sends less out. */
function narrows(key: Guarded, now: GatewayConfig, next: GatewayConfig): boolean {
  switch (key) {
    case "tokens":
      // The last token's removal would open the gateway to everyone.
      return next.tokens.length > 0 && isPartOf(next.tokens, now.tokens);
    case "allowedOrigins":
    case "allowedHosts":
      return isPartOf(next[key], now[key]);
    case "telemetry":
      return next.telemetry.endpoint === undefined;
    case "redact":
      return next.redact;
    case "upstreams":
      return false;
  }
}

function isPartOf(some: readonly unknown[], all: readonly unknown[]): boolean {
  return some.every((one) => all.some((other) => isDeepStrictEqual(one, other)));
}
