import type { GatewayConfig } from "./config.ts";

/** Bounds of the tables that know conversations and replies by name. */
export interface NameBounds {
  /** Conversations that left memory. */
  readonly leftThreads: number;
  /** Threads and families that are watched for loops. */
  readonly loops: number;
  readonly responses: number;
  readonly items: number;
  /** Bytes of the items together. */
  readonly itemBytes: number;
}

/** Clients name replies that are older than the conversations held: a small gateway remembers so much all the same. */
const MIN_THREADS = 100;

/** The bounds that follow from how many conversations are held, so that one setting bounds the memory of a gateway. */
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
