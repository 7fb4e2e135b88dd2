import type { ServerOptions } from "node:http";
import type { DoorConfig } from "./door-config.ts";

const CHECKS_PER_TIMEOUT = 4;
const MAX_CHECK_MS = 1_000;
const SLACK_MS = 1_000;

/**
 * Options for createServer of node:http: the strict parser, and a checking interval that enforces the timeouts in time,
 * since Node checks only every 30 seconds by default. `readBody` enforces the body timeout; Node's request timeout is a
 * second line of defense.
 */
export function buildServerOptions(config: DoorConfig): ServerOptions {
  const { headersMs, bodyMs, keepAliveMs, maxHeaderBytes } = config.limits;
  return {
    insecureHTTPParser: false,
    requireHostHeader: true,
    joinDuplicateHeaders: false,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersMs,
    requestTimeout: headersMs + bodyMs + SLACK_MS,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.max(50, Math.min(MAX_CHECK_MS, headersMs / CHECKS_PER_TIMEOUT)),
    noDelay: true,
    keepAlive: true,
  };
}
