import { HOUR_TTL_MS, SHORT_TTL_MS } from "./diagnose-cache.ts";

const MINUTE = 60_000;
/** Upper ends of the classes of pauses; longer ones never ended. */
const EDGES_MS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 75, 90, 120, 180, 240, 480, 1_440,
].map((minutes) => minutes * MINUTE);
/** The classes of somebody about whom nothing is known yet, as shares of all pauses: most are those of tools. */
const PRIOR_SHARES: readonly number[] = [
  0.86, 0.05, 0.03, 0.012, 0.007, 0.005, 0.003, 0.004, 0.003, 0.002, 0.003, 0.003, 0.002, 0.002, 0.002, 0.001,
  0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.002,
];
const PRIOR_WEIGHT = 200;
const PRIOR_CALLS = 60;

/** Prices of a token of the prefix, in any unit. */
interface PrefixPrices {
  readonly read: number;
  readonly write: number;
  readonly writeHour: number;
}

/** The pauses between the requests of one person's conversations, in a fixed amount of memory. */
export class PauseSample {
  readonly #counts: number[] = EDGES_MS.map((_, index) => PRIOR_WEIGHT * (PRIOR_SHARES[index] ?? 0));
  #ended = PRIOR_WEIGHT / PRIOR_CALLS;
  #total = PRIOR_WEIGHT;

  /** Tokens that the observed requests would have read and written with each lifetime; old ones fade. */
  readonly #tokens = { requests: 0, shortRead: 0, shortWritten: 0, hourRead: 0, hourWritten: 0 };

  /** Adds a request with the pause before it, and the tokens of the request before and of its own. */
  observe(pauseMs: number, tokensBefore: number, tokens: number): void {
    this.add(pauseMs);
    // A smaller request was edited, so that most of it was written.
    const same = tokens >= tokensBefore ? tokensBefore : 0;
    const sums = this.#tokens;
    for (const name of ["shortRead", "shortWritten", "hourRead", "hourWritten"] as const)
      sums[name] *= FADING;
    const shortRead = pauseMs <= SHORT_TTL_MS ? same : 0;
    const hourRead = pauseMs <= HOUR_TTL_MS ? same : 0;
    sums.requests++;
    sums.shortRead += shortRead;
    sums.shortWritten += tokens - shortRead;
    sums.hourRead += hourRead;
    sums.hourWritten += tokens - hourRead;
  }

  /** The cost of the observed requests with an hour, relative to five minutes; 1 while too few are known. */
  hourShare({ read, write, writeHour }: PrefixPrices): number {
    const { requests, shortRead, shortWritten, hourRead, hourWritten } = this.#tokens;
    const short = shortRead * read + shortWritten * write;
    if (requests < MIN_OBSERVED || short <= 0) return 1;
    return (hourRead * read + hourWritten * writeHour) / short;
  }

  /** Adds a pause after which the conversation continued. */
  add(pauseMs: number): void {
    const index = EDGES_MS.findIndex((edge) => pauseMs <= edge);
    if (index < 0) this.#ended++;
    else this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#total++;
  }

  /** Adds the end of a conversation: a pause that never ended. */
  addEnd(): void {
    this.#ended++;
    this.#total++;
  }

  /** Share of all pauses that end between two lengths. */
  share(fromMs: number, toMs: number): number {
    let sum = 0;
    let from = 0;
    for (const [index, edge] of EDGES_MS.entries()) {
      const covered = Math.max(0, Math.min(edge, toMs) - Math.max(from, fromMs)) / (edge - from);
      sum += covered * (this.#counts[index] ?? 0);
      from = edge;
    }
    return sum / this.#total;
  }

  /** Chance that a pause that has lasted for a time ends within the next one. */
  chance(idleMs: number, withinMs: number): number {
    const left = this.share(idleMs, Number.MAX_SAFE_INTEGER) + this.#ended / this.#total;
    return left > 0 ? this.share(idleMs, idleMs + withinMs) / left : 0;
  }
}

/**
 * The cheaper lifetime for a prefix that has to be written anyway, by the person's own requests: an hour costs more for
 * each written token, and saves writing the prefix again after pauses of more than five minutes.
 */
export function chooseTtlMs(pauses: PauseSample, prices: PrefixPrices): number {
  return pauses.hourShare(prices) < MAX_HOUR_SHARE ? HOUR_TTL_MS : SHORT_TTL_MS;
}

/** Small expected savings are not worth the risk. */
const MAX_HOUR_SHARE = 0.92;
const MIN_OBSERVED = 200;
/** Share of an observation's weight that is left after the next one. */
const FADING = 0.9995;

/** True while a refresh is expected to save more than it costs, after a conversation has been idle for a time. */
export function isRefreshWorth(
  pauses: PauseSample,
  {
    idleMs,
    ttlMs,
    prices,
  }: { readonly idleMs: number; readonly ttlMs: number; readonly prices: PrefixPrices },
): boolean {
  const write = ttlMs >= HOUR_TTL_MS ? prices.writeHour : prices.write;
  return pauses.chance(idleMs, ttlMs) * (write - prices.read) > prices.read * REFRESH_MARGIN;
}

/** A refresh also costs a token of output and a try that may fail. */
const REFRESH_MARGIN = 1.2;
/** Time before the end of a lifetime at which it is refreshed. */
export const REFRESH_EARLY_MS = 30_000;

/** The state of a cache between two requests of a replay. */
interface KeptCache {
  readonly isHot: boolean;
  readonly writePrice: number;
  readonly refreshCost: number;
}

type Keep = (given: { readonly pauseMs: number; readonly tokens: number; readonly ttlMs: number }) => {
  readonly isHot: boolean;
  readonly refreshCost: number;
  readonly nextTtlMs: number;
};

/** Ways to keep a cache, by name, for replays with real times. */
export const CACHE_WAYS = [
  "five minutes",
  "one hour",
  "ttl auto",
  "keep-alive",
  "ttl auto + keep-alive",
  "foresight",
] as const;
export type CacheWay = (typeof CACHE_WAYS)[number];

/** Makes the decisions of one conversation in a replay; `pauses` are those known before it. */
export function startKeeping(
  way: CacheWay,
  pauses: PauseSample,
  prices: PrefixPrices,
): (pauseMs: number | undefined, tokens: number) => KeptCache {
  const keep = WAYS[way](pauses, prices);
  let ttlMs = keep({ pauseMs: Number.POSITIVE_INFINITY, tokens: 0, ttlMs: SHORT_TTL_MS }).nextTtlMs;
  return (pauseMs, tokens) => {
    const kept =
      pauseMs === undefined
        ? { isHot: false, refreshCost: 0, nextTtlMs: ttlMs }
        : keep({ pauseMs, tokens, ttlMs });
    if (!kept.isHot) ttlMs = kept.nextTtlMs;
    const writePrice = ttlMs === HOUR_TTL_MS ? prices.writeHour : prices.write;
    return { isHot: kept.isHot, refreshCost: kept.refreshCost, writePrice };
  };
}

const WAYS: Readonly<Record<CacheWay, (pauses: PauseSample, prices: PrefixPrices) => Keep>> = {
  "five minutes": () => fixed(SHORT_TTL_MS),
  "one hour": () => fixed(HOUR_TTL_MS),
  "ttl auto": (pauses, prices) => (given) => ({
    ...fixed(given.ttlMs)(given),
    nextTtlMs: chooseTtlMs(pauses, prices),
  }),
  "keep-alive": (pauses, prices) => (given) => ({
    ...refresh(pauses, prices, given),
    nextTtlMs: SHORT_TTL_MS,
  }),
  "ttl auto + keep-alive": (pauses, prices) => (given) => ({
    ...refresh(pauses, prices, given),
    nextTtlMs: chooseTtlMs(pauses, prices),
  }),
  foresight:
    (_, prices) =>
    ({ pauseMs, tokens, ttlMs }) => {
      const refreshes = Math.max(0, Math.ceil(pauseMs / (ttlMs - REFRESH_EARLY_MS)) - 1);
      const isCheaper = refreshes * prices.read < prices.write - prices.read;
      const isHot = pauseMs <= ttlMs || isCheaper;
      return {
        isHot,
        refreshCost: isHot && pauseMs > ttlMs ? refreshes * prices.read * tokens : 0,
        nextTtlMs: SHORT_TTL_MS,
      };
    },
};

function fixed(ttlMs: number): Keep {
  return ({ pauseMs }) => ({ isHot: pauseMs <= ttlMs, refreshCost: 0, nextTtlMs: ttlMs });
}

/** Refreshes before each end of the lifetime while that is worth it. */
function refresh(
  pauses: PauseSample,
  prices: PrefixPrices,
  { pauseMs, tokens, ttlMs }: Parameters<Keep>[0],
): { readonly isHot: boolean; readonly refreshCost: number } {
  let livesUntil = ttlMs;
  let refreshCost = 0;
  while (pauseMs > livesUntil) {
    const idleMs = livesUntil - REFRESH_EARLY_MS;
    if (!isRefreshWorth(pauses, { idleMs, ttlMs, prices })) break;
    refreshCost += tokens * prices.read;
    livesUntil = idleMs + ttlMs;
  }
  return { isHot: pauseMs <= livesUntil, refreshCost };
}
