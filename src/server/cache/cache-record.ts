import type { UsageBody } from "../../kernel/faces/log.ts";
import type { Json } from "../../kernel/index.ts";
import type { RequestPrint } from "./compare-prints.ts";
import { CACHE_CAUSES, type CacheCause, type CacheDiagnosis, type CacheRequest } from "./diagnose-cache.ts";

/** The diagnosis of a request as it is stored with its usage, with the digests that the next diagnosis compares. */
export interface CacheRecord extends CacheDiagnosis {
  /** Time at which the request was sent. */
  readonly sentAt: number;
  readonly sent?: RequestPrint | undefined;
  /** The client's request, if another one was sent. */
  readonly client?: RequestPrint | undefined;
  /** Lifetime that longhaul asked for instead of the client's. */
  readonly setTtlMs?: number | undefined;
  /** True for a refresh by `cache.keepAlive`, which nobody asked for. */
  readonly isRefresh?: boolean | undefined;
  /** The provider's own words about the miss. */
  readonly providerDiagnosis?: string | undefined;
}

/** The metadata of a usage entry with its cache record; other metadata stays. */
export function addCacheRecord(report: Pick<UsageBody, "meta">, record: CacheRecord): UsageBody["meta"] {
  const { longhaul } = report.meta ?? {};
  const own = typeof longhaul === "object" && !Array.isArray(longhaul) ? longhaul : {};
  const { sent, client, ...rest } = record;
  const cache = {
    ...rest,
    sent: sent && { ...sent, detail: undefined },
    client: client && client !== sent ? { ...client, detail: undefined } : undefined,
  };
  // Values of undefined do not reach the log.
  return { ...report.meta, longhaul: { ...own, cache: JSON.parse(JSON.stringify(cache)) as Json } };
}

const STATES: readonly unknown[] = ["first", "hit", "miss", "unreported"] satisfies CacheDiagnosis["state"][];

/** The cache record of a usage entry; undefined if it has none, as all imported ones. */
export function readCacheRecord({ meta }: Pick<UsageBody, "meta">): CacheRecord | undefined {
  const own = meta?.longhaul as { readonly cache?: unknown } | undefined;
  const record = Object(own?.cache) as Partial<CacheRecord>;
  if (!STATES.includes(record.state) || typeof record.sentAt !== "number") return undefined;
  const { cause } = record;
  if (cause !== undefined && !Object.hasOwn(CACHE_CAUSES, cause)) return undefined;
  return {
    expectedTokens: 0,
    missedTokens: 0,
    ttlMs: 0,
    ...(record as Pick<CacheRecord, "state" | "sentAt">),
    cause: cause as CacheCause | undefined,
    client: record.client ?? record.sent,
  };
}

/** A usage entry as a request of the track. */
export function toCacheRequest(entry: UsageBody & { readonly at: number }): CacheRequest {
  const record = readCacheRecord(entry);
  return {
    at: record?.sentAt ?? entry.at,
    model: entry.model,
    usage: entry.usage,
    sent: record?.sent,
    client: record?.client,
  };
}
