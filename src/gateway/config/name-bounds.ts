import type { GatewayConfig } from "./config.ts";

/** Bounds of the tables of conversations, replies and items by name. */
interface NameBounds {
  /** Conversations that are no longer in memory. */
  readonly leftThreads: number;
  /** Threads and families that are watched for loops. */
  readonly loops: number;
  readonly responses: number;
  readonly items: number;
  /** Total bytes of the items. */
  readonly itemBytes: number;
}

/** Minimum for small gateways, because clients refer to replies that are older than the conversations in memory. */
const MIN_THREADS = 100;

/** Derives the bounds from the thread limits, so that these settings alone bound the memory of a gateway. */
export function nameBounds({ maxThreads, maxThreadBytes }: GatewayConfig["limits"]): NameBounds {
  const threads = Math.max(MIN_THREADS, maxThreads);
  return {
    leftThreads: 10 * threads,
    loops: 5 * threads,
    responses: 5 * threads,
    items: 20 * threads,
    itemBytes: maxThreadBytes / 4,
  };
}
