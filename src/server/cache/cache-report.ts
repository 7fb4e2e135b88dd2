import type { OverlayBody, UsageBody } from "../../kernel/faces/log.ts";
import {
  addSavings,
  computeReportCost,
  computeSavings,
  countPromptTokens,
  isSummaryUsage,
  isSumUsage,
  type ModelFacts,
  type ModelFactsLookup,
  NO_SAVINGS,
  type Prices,
  RECENT_REQUESTS,
  type Savings,
} from "../../kernel/faces/window.ts";
import type { Entry, Kernel, Session, SessionId, SessionRecord } from "../../kernel/index.ts";
import { getRequestKey } from "../../kernel/usage/request-usage.ts";
import { SavingsBySize, type SizeSum } from "../../kernel/usage/size-sums.ts";
import { sumPromptTokens } from "../../model/usage.ts";
import { type CacheRecord, readCacheRecord, toCacheRequest } from "./cache-record.ts";
import {
  CACHE_CAUSES,
  type CacheCause,
  type CacheDiagnosis,
  type CacheOwner,
  type CacheTrack,
  diagnoseCache,
  EMPTY_TRACK,
  followCache,
  HOUR_TTL_MS,
  type LoggedChange,
  SHORT_TTL_MS,
} from "./diagnose-cache.ts";

/** One request with its verdict and its price. */
export interface CacheRow extends CacheDiagnosis {
  readonly session: SessionId;
  readonly seq: number;
  readonly at: number;
  readonly model: string | undefined;
  readonly promptTokens: number;
  readonly readTokens: number;
  /** US dollars that the miss cost more than a hit; undefined if the price is unknown. */
  readonly missDollars: number | undefined;
  /** US dollars of the whole request; undefined if unknown. */
  readonly dollars: number | undefined;
  readonly parts: BillParts;
  readonly savings: Savings;
  readonly acts: readonly LedgerEntry[];
  /** True for a call that longhaul made by itself: a summary or a refresh. */
  readonly isOwnCall: boolean;
  readonly providerDiagnosis: string | undefined;
}

/** The bill of a request by kind of content; the sum is the bill. US dollars. */
interface BillParts {
  readonly output: number;
  /** Tokens read from the cache, and those that a miss kept from being read, at the price of a read. */
  readonly reads: number;
  /** Tokens that were new, written or not. */
  readonly fresh: number;
  /** The rest of the price of missed tokens. */
  readonly misses: number;
  /** Searches, calls of other models, and costs that a provider reported without prices of its model. */
  readonly other: number;
}

const NO_PARTS: BillParts = { output: 0, reads: 0, fresh: 0, misses: 0, other: 0 };

/** Money that an action of longhaul on the cache cost, and money that it saved. US dollars. */
interface LedgerEntry {
  readonly action: "ttl" | "keep-alive";
  readonly debit: number;
  readonly credit: number;
}

/** Reads the requests of a session's log, oldest first, with the verdict about each; also on abandoned lines. */
export async function* readCacheRows(session: Session, factsOf: ModelFactsLookup): AsyncGenerator<CacheRow> {
  const judge = new RowJudge(factsOf);
  const recent = new Map<string, { entry: Entry<UsageBody>; readonly logged: readonly LoggedChange[] }>();
  let logged: LoggedChange[] = [];
  for await (const entry of readLog(session)) {
    if (entry.kind === "overlay") logged.push(...nameOverlay(entry));
    else if (entry.kind === "line") logged.push("line");
    if (entry.kind !== "usage") continue;
    const key = getRequestKey(entry);
    const known = recent.get(key);
    // A late report replaces the earlier one at its place.
    if (known) {
      known.entry = { ...entry, at: known.entry.at };
      continue;
    }
    recent.set(key, { entry, logged });
    logged = [];
    const [oldest] = recent;
    if (!oldest || recent.size <= RECENT_REQUESTS) continue;
    recent.delete(oldest[0]);
    yield judge.judge(oldest[1].entry, oldest[1].logged);
  }
  for (const { entry, logged: changes } of recent.values()) yield judge.judge(entry, changes);
}

const PAGE_ENTRIES = 500;

async function* readLog(session: Session): AsyncGenerator<Entry> {
  for (let from = 1; ; ) {
    const entries = await session.read({ from, limit: PAGE_ENTRIES, kinds: ["usage", "overlay", "line"] });
    yield* entries;
    const last = entries.at(-1);
    if (!last || entries.length < PAGE_ENTRIES) return;
    from = last.seq + 1;
  }
}

/** An overlay of longhaul is our own edit; one that an import found is the client's. */
function nameOverlay({ author, edit }: OverlayBody): readonly LoggedChange[] {
  if (author.startsWith("longhaul") || author.startsWith("policy")) return ["own-edit"];
  return edit.type === "summarize" || edit.type === "hide" ? ["client-summary"] : [];
}

/** Judges the requests of one conversation one after another. */
class RowJudge {
  readonly #factsOf: ModelFactsLookup;
  #track: CacheTrack = EMPTY_TRACK;
  /** The last request that somebody made, and the lifetime that longhaul had asked for. */
  #lastAt: number | undefined;
  #setTtlMs: number | undefined;

  constructor(factsOf: ModelFactsLookup) {
    this.#factsOf = factsOf;
  }

  judge(entry: Entry<UsageBody>, logged: readonly LoggedChange[]): CacheRow {
    const record = readCacheRecord(entry);
    const isSummary = isSummaryUsage(entry);
    const isSum = isSumUsage(entry);
    const request = { ...toCacheRequest(entry), logged };
    const isOwnCall = isSummary || record?.isRefresh === true;
    const verdict = isOwnCall || isSum ? UNJUDGED : (record ?? diagnoseCache(this.#track, request));
    const facts = entry.model === undefined ? undefined : this.#factsOf(entry.model);
    const dollars = computeReportCost(entry, this.#factsOf);
    const parts = divideBill(entry, facts, dollars, verdict.missedTokens);
    const row: CacheRow = {
      ...pickDiagnosis(verdict),
      session: entry.session,
      seq: entry.seq,
      at: entry.at,
      model: entry.model,
      promptTokens: isSum ? 0 : countPromptTokens(entry.usage) || 0,
      readTokens: entry.usage.cacheReadTokens ?? 0,
      missDollars: dollars === undefined ? undefined : parts.misses,
      dollars,
      parts,
      savings: record?.isRefresh ? NO_SAVINGS : computeSavings(entry, this.#factsOf),
      acts: facts && !facts.arePricesAssumed ? this.#book(entry, facts.prices, verdict, record, dollars) : [],
      isOwnCall,
      providerDiagnosis: readProviderDiagnosis(entry) ?? record?.providerDiagnosis,
    };
    if (!isSummary && !isSum) this.#track = followCache(this.#track, request);
    if (!isOwnCall) {
      this.#lastAt = request.at;
      this.#setTtlMs = record?.setTtlMs;
    }
    return row;
  }

  /** Books what our own choice of a lifetime, or a refresh before this request, cost and saved. */
  #book(
    { usage }: Entry<UsageBody>,
    { input, cacheRead, cacheWrite, cacheWriteHour }: Prices,
    verdict: CacheDiagnosis,
    record: CacheRecord | undefined,
    dollars = 0,
  ): readonly LedgerEntry[] {
    if (record?.isRefresh) return [{ action: "keep-alive", debit: dollars, credit: 0 }];
    const perToken = (usage.priceFactor ?? 1) / 1_000_000;
    const acts: LedgerEntry[] = [];
    const { cacheWriteTokens = 0, cacheWriteHourTokens = 0, cacheReadTokens = 0 } = usage;
    const extra = (cacheWriteHour - cacheWrite) * perToken;
    const { pauseMs = 0, expectedTokens, missedTokens, state, cause } = verdict;
    const rewritten = (Math.max(cacheWrite, input) - cacheRead) * perToken;
    const saved = Math.min(expectedTokens, cacheReadTokens) * rewritten;
    if (record?.setTtlMs === HOUR_TTL_MS && cacheWriteHourTokens > 0)
      acts.push({ action: "ttl", debit: cacheWriteHourTokens * extra, credit: 0 });
    if (record?.setTtlMs === SHORT_TTL_MS && cacheWriteTokens > 0)
      acts.push({ action: "ttl", debit: 0, credit: cacheWriteTokens * extra });
    const isBetween = pauseMs > SHORT_TTL_MS && pauseMs <= HOUR_TTL_MS;
    if (this.#setTtlMs === HOUR_TTL_MS && isBetween && state === "hit")
      acts.push({ action: "ttl", debit: 0, credit: saved });
    if (this.#setTtlMs === SHORT_TTL_MS && isBetween && cause === "expired")
      acts.push({ action: "ttl", debit: missedTokens * rewritten, credit: 0 });
    const sinceLast =
      this.#lastAt === undefined ? 0 : (this.#track.latest?.at ?? this.#lastAt) - this.#lastAt;
    // The newest request of the track is a refresh: without it, the cache would have died.
    if (sinceLast > 0 && verdict.state === "hit")
      acts.push({ action: "keep-alive", debit: 0, credit: saved });
    return acts;
  }
}

const MAX_DIAGNOSIS = 300;

/** The provider's own explanation of a miss, which is stored with the usage. */
function readProviderDiagnosis({ meta }: Pick<UsageBody, "meta">): string | undefined {
  const told = meta?.cacheDiagnosis;
  if (told === undefined || told === null) return undefined;
  return (typeof told === "string" ? told : JSON.stringify(told)).slice(0, MAX_DIAGNOSIS);
}

const UNJUDGED: CacheDiagnosis = { state: "unreported", expectedTokens: 0, missedTokens: 0, ttlMs: 0 };

function pickDiagnosis(given: CacheDiagnosis): CacheDiagnosis {
  const { state, cause, expectedTokens, missedTokens, detail, pauseMs, ttlMs, also } = given;
  return { state, cause, expectedTokens, missedTokens, detail, pauseMs, ttlMs, also };
}

/** Divides the bill of a request. Missed tokens were written where the provider wrote any, else sent as input. */
function divideBill(
  { usage }: UsageBody,
  facts: ModelFacts | undefined,
  dollars: number | undefined,
  missedTokens: number,
): BillParts {
  if (dollars === undefined) return NO_PARTS;
  if (!facts || facts.arePricesAssumed) return { ...NO_PARTS, other: dollars };
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const hours = Math.min(usage.cacheWriteHourTokens ?? 0, cacheWriteTokens);
  const isLong = facts.longPrompt !== undefined && sumPromptTokens(usage) > facts.longPrompt.above;
  const prices = isLong ? (facts.longPrompt?.prices ?? facts.prices) : facts.prices;
  const written = (cacheWriteTokens - hours) * prices.cacheWrite + hours * prices.cacheWriteHour;
  const writePrice = cacheWriteTokens > 0 ? written / cacheWriteTokens : 0;
  const missedWrites = Math.min(missedTokens, cacheWriteTokens);
  const missedInput = Math.min(missedTokens - missedWrites, inputTokens);
  const missed = missedWrites + missedInput;
  const paid = missedWrites * writePrice + missedInput * prices.input;
  const misses = Math.max(0, paid - missed * prices.cacheRead);
  const factor = (usage.priceFactor ?? 1) / 1_000_000;
  const own = {
    output: outputTokens * prices.output * factor,
    reads: (cacheReadTokens * prices.cacheRead + paid - misses) * factor,
    fresh: (written + inputTokens * prices.input - paid) * factor,
    misses: misses * factor,
  };
  const sum = own.output + own.reads + own.fresh + own.misses;
  // A provider's own cost counts; its parts are divided as the list prices are.
  const scale = usage.cost !== undefined && sum > 0 ? usage.cost / sum : 1;
  return {
    output: own.output * scale,
    reads: own.reads * scale,
    fresh: own.fresh * scale,
    misses: own.misses * scale,
    other: dollars - sum * scale,
  };
}

/** US dollars that the missed tokens of a request cost more than a hit; undefined if the price is unknown. */
export function computeMissDollars(
  report: UsageBody,
  missedTokens: number,
  factsOf: ModelFactsLookup,
): number | undefined {
  const dollars = computeReportCost(report, factsOf);
  const facts = report.model === undefined ? undefined : factsOf(report.model);
  return dollars === undefined ? undefined : divideBill(report, facts, dollars, missedTokens).misses;
}

/** Misses of one cause. */
interface CauseSum {
  readonly cause: CacheCause;
  readonly owner: CacheOwner;
  readonly requests: number;
  readonly tokens: number;
  readonly dollars: number;
  /** The detail of its dearest kind, and the dollars of that kind. */
  readonly detail: string | undefined;
  readonly detailDollars: number;
  readonly remedy: string | undefined;
}

export interface CacheReport {
  readonly since: number;
  readonly conversations: number;
  readonly requests: number;
  readonly hits: number;
  readonly misses: number;
  /** Requests of which the provider said nothing about a cache. */
  readonly unreported: number;
  readonly unpricedRequests: number;
  readonly dollars: number;
  readonly parts: BillParts;
  /** Dearest first. */
  readonly causes: readonly CauseSum[];
  readonly sizes: readonly SizeSum[];
  readonly ledger: readonly (LedgerEntry & { readonly count: number })[];
}

/** Sums rows; its size does not depend on their number. */
export class CacheSums {
  readonly #since: number;
  readonly #causes = new Map<
    CacheCause,
    { requests: number; tokens: number; dollars: number; details: Map<string, DetailSum> }
  >();
  readonly #sizes = new SavingsBySize();
  readonly #ledger = new Map<LedgerEntry["action"], { debit: number; credit: number; count: number }>();
  readonly #counts = {
    conversations: 0,
    requests: 0,
    hits: 0,
    misses: 0,
    unreported: 0,
    unpricedRequests: 0,
    dollars: 0,
  };
  #parts = NO_PARTS;

  constructor(since = 0) {
    this.#since = since;
  }

  /** Adds the requests of a conversation; only those since the given time count. */
  async addConversation(rows: AsyncIterable<CacheRow>, onRow?: (row: CacheRow) => void): Promise<void> {
    let longest = 0;
    let count = 0;
    let dollars = 0;
    let savings = NO_SAVINGS;
    for await (const row of rows) {
      longest = Math.max(longest, row.promptTokens + Math.max(0, row.savings.removedTokens));
      if (row.at < this.#since) continue;
      count++;
      dollars += row.dollars ?? 0;
      savings = addSavings(savings, row.savings);
      this.#add(row);
      onRow?.(row);
    }
    if (count === 0) return;
    this.#counts.conversations++;
    this.#sizes.add(longest, dollars, savings);
  }

  #add(row: CacheRow): void {
    const counts = this.#counts;
    counts.requests++;
    if (row.state === "hit" || row.state === "first") counts.hits++;
    else if (row.state === "unreported") counts.unreported++;
    else counts.misses++;
    if (row.dollars === undefined) counts.unpricedRequests++;
    counts.dollars += row.dollars ?? 0;
    this.#parts = addParts(this.#parts, row.parts);
    for (const { action, debit, credit } of row.acts) {
      const sum = getOrAdd(this.#ledger, action, () => ({ debit: 0, credit: 0, count: 0 }));
      sum.debit += debit;
      sum.credit += credit;
      sum.count++;
    }
    if (row.cause === undefined) return;
    const sum = getOrAdd(this.#causes, row.cause, () => ({
      requests: 0,
      tokens: 0,
      dollars: 0,
      details: new Map(),
    }));
    sum.requests++;
    sum.tokens += row.missedTokens;
    sum.dollars += row.missDollars ?? 0;
    if (row.detail !== undefined) addDetail(sum.details, row.detail, row.missDollars ?? 0);
  }

  get report(): CacheReport {
    const causes = [...this.#causes].map(([cause, { requests, tokens, dollars, details }]): CauseSum => {
      const [dearest] = [...details.values()].sort((one, other) => other.dollars - one.dollars);
      const { owner, remedy } = CACHE_CAUSES[cause];
      return {
        cause,
        owner,
        requests,
        tokens,
        dollars,
        detail: dearest?.example,
        detailDollars: dearest?.dollars ?? 0,
        remedy,
      };
    });
    return {
      since: this.#since,
      ...this.#counts,
      parts: this.#parts,
      causes: causes.sort((one, other) => other.dollars - one.dollars || other.tokens - one.tokens),
      sizes: this.#sizes.list,
      ledger: [...this.#ledger].map(([action, sums]) => ({ action, ...sums })),
    };
  }
}

const MAX_DETAILS = 50;

/** Misses whose details differ in numbers only. */
interface DetailSum {
  dollars: number;
  example: string;
  exampleDollars: number;
}

function addDetail(details: Map<string, DetailSum>, detail: string, dollars: number): void {
  const kind = detail.replace(/“.*|\d[\d,]*/gs, "#");
  if (!details.has(kind) && details.size >= MAX_DETAILS) return;
  const sum = getOrAdd(details, kind, () => ({ dollars: 0, example: detail, exampleDollars: dollars }));
  sum.dollars += dollars;
  if (dollars <= sum.exampleDollars) return;
  sum.example = detail;
  sum.exampleDollars = dollars;
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key) ?? create();
  map.set(key, known);
  return known;
}

function addParts(one: BillParts, other: BillParts): BillParts {
  return {
    output: one.output + other.output,
    reads: one.reads + other.reads,
    fresh: one.fresh + other.fresh,
    misses: one.misses + other.misses,
    other: one.other + other.other,
  };
}

/** Sums the caches of some sessions since a time. */
export async function buildCacheReport(
  kernel: Kernel,
  records: AsyncIterable<SessionRecord>,
  { since, signal }: { readonly since: number; readonly signal: AbortSignal },
): Promise<CacheReport> {
  const sums = new CacheSums(since);
  for await (const record of records) {
    signal.throwIfAborted();
    await using session = await kernel.session(record.id);
    const { entries } = await session.page({ kinds: ["usage"], limit: 1 });
    if (entries.every(({ at }) => at < since)) continue;
    await sums.addConversation(readCacheRows(session, (model) => kernel.modelFacts(model)));
  }
  return sums.report;
}

/** The state of a conversation's cache after its last request. */
export interface CacheNow {
  readonly isHot: boolean;
  /** Time until it expires; 0 if it has. */
  readonly leftMs: number;
  readonly ttlMs: number;
  readonly cachedTokens: number;
}

/** The state of the cache after a row; undefined if the provider says nothing about a cache. */
export function findCacheNow(last: CacheRow | undefined, now: number): CacheNow | undefined {
  if (!last || last.ttlMs === 0 || last.state === "unreported") return undefined;
  const leftMs = Math.max(0, last.at + last.ttlMs - now);
  return { isHot: leftMs > 0, leftMs, ttlMs: last.ttlMs, cachedTokens: last.promptTokens };
}
