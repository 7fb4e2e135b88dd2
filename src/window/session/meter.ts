import { toEntry } from "../../log/entry-body.ts";
import type { EntryStore } from "../../log/store/entry-store.ts";
import type { Clock } from "../../model/clock.ts";
import type { Entry, SessionId, UsageBody } from "../../model/entry.ts";
import type { CacheState } from "../../model/receipt.ts";
import type { Usage } from "../../model/usage.ts";
import type { Slot } from "../slot.ts";
import { createCalibrationState } from "../tokens/calibration.ts";
import { createGauge, type LearnedCounts, learnCount } from "../tokens/gauge.ts";
import { chooseStartFactor } from "../tokens/start-factor.ts";
import {
  countPromptTokens,
  isSummaryUsage,
  isSumUsage,
  readEstimatedTokens,
  readRequestSizes,
} from "../usage/usage-meta.ts";

/** Number of a session's newest usage reports that counts are learned from. */
const MAX_REPORTS = 24;
/** Entries at the end of a log in which they are looked for. */
const REPORTS_WITHIN = 2_000;

type LearnedReport = Pick<Entry<UsageBody>, "at" | "usage" | "model" | "meta">;

/** Relates estimates to a provider's counts for one model, learned from the reports in the log. */
export class Meter {
  readonly #model: string;
  readonly #cacheMs: number;
  /** The reports that the counts are learned from, oldest first. */
  #reports: readonly LearnedReport[] = [];
  #refused: { readonly estimated: number; readonly counted: number } | undefined;
  #learned: LearnedCounts;
  /** The latest reported request of any model. */
  #last: LastRequest | undefined;
  /** True if the provider has reported cached tokens lately, or has reported nothing yet. */
  isCaching = true;
  #hasCounts = false;
  /** True if the provider counts cached tokens, and counted none in the last request. */
  isUncached = false;
  /** Estimated tokens of the model's latest reported request without edits; 0 if unknown. */
  uneditedTokens = 0;

  /** `cacheMs` is the shortest time for which the provider keeps a cached prefix. */
  constructor(model: string, cacheMs = SHORT_MS) {
    this.#model = model;
    this.#cacheMs = cacheMs;
    this.#learned = this.#start();
  }

  #start(): LearnedCounts {
    return { gauge: createGauge({ calibration: createCalibrationState(chooseStartFactor(this.#model)) }) };
  }

  /** Converts estimated tokens to the provider's count. */
  counted(estimated: number): number {
    return this.#learned.gauge.counted(estimated);
  }

  /** The largest estimate for which the provider is certain to count at most `tokens`. */
  estimatedWithin(tokens: number): number {
    return this.#learned.gauge.estimatedWithin(tokens);
  }

  /** The estimate for which the provider is expected to count `tokens`. */
  estimatedAt(tokens: number): number {
    return this.#learned.gauge.estimatedAt(tokens);
  }

  /** When the latest request of any model was reported; undefined before the first. */
  get lastAt(): number | undefined {
    return this.#last?.at;
  }

  /**
   * Learns from the next report in the log. Only the newest ones count, the same number that a new handle reads, so that
   * it plans as this one does: once the oldest one no longer counts, all others are learned again.
   */
  learn(report: LearnedReport): void {
    const { length } = this.#reports;
    this.#reports = [...this.#reports, report].slice(-MAX_REPORTS);
    if (this.#refused || length === MAX_REPORTS) this.#learnAll();
    else this.#learnReport(report);
    this.#refused = undefined;
  }

  /** Learns from the latest reports of a session's log. */
  async readReports(entries: EntryStore, session: SessionId): Promise<void> {
    const { seq: head } = await entries.head(session);
    const found = await entries.read(session, {
      from: Math.max(1, head - REPORTS_WITHIN),
      to: head,
      limit: MAX_REPORTS,
      order: "descending",
      kinds: ["usage"],
    });
    this.#reports = found.toReversed().flatMap((stored) => {
      const entry = toEntry(session, stored);
      return entry.kind === "usage" ? [entry] : [];
    });
    this.#learnAll();
    if (this.#refused) this.#learned = learnCount(this.#learned, this.#refused);
  }

  #learnAll(): void {
    this.#learned = this.#start();
    this.isCaching = true;
    this.#hasCounts = false;
    for (const report of this.#reports) this.#learnReport(report);
  }

  #learnReport({ at, usage, model, meta }: LearnedReport): void {
    if (isSummaryUsage({ meta }) || isSumUsage({ meta })) return;
    const { cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
    this.#last = { at, usage, model };
    this.isCaching = (this.#hasCounts && this.isCaching) || cacheReadTokens + cacheWriteTokens > 0;
    this.#hasCounts = true;
    this.isUncached = isUncached(usage);
    const estimated = readEstimatedTokens({ meta });
    if (estimated === undefined || (model !== undefined && model !== this.#model)) return;
    this.uneditedTokens = readRequestSizes({ meta })?.uneditedTokens ?? 0;
    this.#learned = learnCount(this.#learned, { estimated, counted: countPromptTokens(usage) });
  }

  /** Learns the count of a refused request, which has no report, until the next report. */
  learnRefused(estimated: number, counted: number): void {
    this.#refused = { estimated, counted };
    this.#learned = learnCount(this.#learned, this.#refused);
  }

  /**
   * The likely state of the provider's cache now, based on the time of the last request, how long its prefix is
   * cached, and whether the provider reports caching at all; before the first report, on when the conversation was last
   * continued. Models do not share a cache. A provider that never mentions a cache is taken to keep the prefix for as long
   * as its server runs, as llama.cpp, Ollama, vLLM and LM Studio do.
   */
  estimateCacheState(slots: readonly Slot[], clock: Clock): CacheState {
    const now = clock.now();
    const lastSaidAt = slots.at(-2)?.at;
    if (!this.#last) return lastSaidAt !== undefined && now - lastSaidAt > LONG_MS ? "cold" : "unknown";
    const { at, usage, model } = this.#last;
    if (model !== undefined && model !== this.#model) return "cold";
    const { cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens = 0 } = usage;
    if (cacheReadTokens === undefined && cacheWriteTokens === undefined) return "unknown";
    const heldMs = cacheWriteHourTokens > 0 ? LONG_MS : this.#cacheMs;
    if (now - at > heldMs) return "cold";
    if ((cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0) > 0) return "hot";
    return this.isUncached ? "cold" : "unknown";
  }
}

/** The last request that was reported. */
interface LastRequest {
  readonly at: number;
  readonly usage: Usage;
  readonly model: string | undefined;
}

const SHORT_MS = 5 * 60_000;
const LONG_MS = 60 * 60_000;
/** No provider caches shorter prompts, so their reports say nothing about a cache. */
const MIN_CACHED_TOKENS = 4_096;

/**
 * True for the usage of a request that is long enough to be cached, from a provider that counts cached tokens and
 * counted none. A provider that does not mention a cache is not meant: local servers keep the prefix and say nothing.
 */
function isUncached({ inputTokens = 0, cacheReadTokens, cacheWriteTokens }: Usage): boolean {
  const isSilent = cacheReadTokens === undefined && cacheWriteTokens === undefined;
  const cachedTokens = (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
  return !isSilent && cachedTokens === 0 && inputTokens >= MIN_CACHED_TOKENS;
}
