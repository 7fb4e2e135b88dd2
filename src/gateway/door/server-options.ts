import type { ServerOptions } from "node:http";
import type { DoorConfig } from "./door-config.ts";

const CHECKS_A_TIMEOUT = 4;
const MOST_CHECK_MS = 1_000;
const SLACK_MS = 1_000;

/**
 * Options for node:http's createServer: the strict parser, and time-outs that Node really looks after, since by default it
 * looks only every 30 seconds. The body's own time-out is that of readBody; Node's is a second line behind it.
 */
export function httpServerOptions(config: DoorConfig): ServerOptions {
  const { headersMs, bodyMs, keepAliveMs, maxHeaderBytes } = config.limits;
  return {
    insecureHTTPParser: false,
    requireHostHeader: true,
    joinDuplicateHeaders: false,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersMs,
    requestTimeout: headersMs + bodyMs + SLACK_MS,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.max(50, Math.min(MOST_CHECK_MS, headersMs / CHECKS_A_TIMEOUT)),
    noDelay: true,
    keepAlive: true,
  };
}
