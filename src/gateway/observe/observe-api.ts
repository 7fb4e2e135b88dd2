import type { GatewayLog } from "./gateway-log.ts";
import type { Metrics } from "./metrics.ts";

/** An answered request to the API: names of routes, never their arguments. */
export interface ApiTrace {
  readonly method: string;
  /** The operation of the OpenAPI document; "unknown" for a path that is none. */
  readonly operation: string;
  readonly path: string | undefined;
  /** True if the reply lasts as long as its reader wishes. */
  readonly isStream: boolean;
  readonly principal: string;
  readonly status: number;
  /** True if the client left before the reply ended. */
  readonly isGone: boolean;
  readonly ms: number;
  readonly bytesIn: number;
}

/**
 * Counts and logs a request to the API. Reads are logged at the level debug, because a page asks every few seconds;
 * changes at info, failures at error.
 */
export function observeApi(trace: ApiTrace, { log, metrics }: { log: GatewayLog; metrics: Metrics }): void {
  const { method, operation, path, isStream, principal, status, isGone, bytesIn } = trace;
  const ms = Math.round(trace.ms);
  metrics.apiRequests.add({ operation, status: String(status) });
  if (!isStream) metrics.apiDuration.observe({ operation }, trace.ms / 1_000);
  const isRead = method === "GET" || method === "HEAD";
  const level = status >= 500 ? "error" : isRead ? "debug" : "info";
  log[level]("api", {
    principal,
    method,
    path,
    kind: operation,
    ...(isGone && !isStream && { ending: "client-gone" }),
    status,
    ms,
    bytesIn,
    summary: `api ${operation} ${status} ${ms} ms`,
  });
}
