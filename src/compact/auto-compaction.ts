import { isLonghaulError, throwIfAborted } from "../model/errors.ts";
import type { Compacting, CompactingState } from "../window/live/compacting.ts";
import type { ModelFacts } from "../window/models/facts.ts";
import { sizeOf } from "../window/size.ts";
import type { Slot } from "../window/slot.ts";
import {
  type CompactOptions,
  type CompactorParts,
  compactSession,
  type Prepared,
  prepareSummary,
  putInPlace,
} from "./compactor.ts";
import { findLastAttempt } from "./find-last-attempt.ts";
import { pays, type SummaryPlace } from "./plan/pays.ts";
import { sourceOf } from "./plan/source.ts";
import { type Amount, checkTrigger, type LastAttempt, needOf, type TriggerOptions } from "./plan/trigger.ts";

/** When and how a session is compacted automatically. */
export interface AutoCompactOptions
  extends TriggerOptions,
    Omit<CompactOptions, "isDryRun" | "signal" | "model" | "fallback"> {}

/** Loads the summarizer models when they are first needed. */
export type Summarisers = () => Promise<Pick<CompactOptions, "model" | "fallback">>;

/**
 * Compacts a session when its window needs it. From a soft threshold on, it prepares the summary in the background, so
 * that calls seldom wait; messages added meanwhile stay after the summary.
 */
export class AutoCompaction implements Compacting {
  readonly #parts: CompactorParts;
  readonly #options: AutoCompactOptions;
  readonly #summarisers: Summarisers;
  #preparing: Promise<Prepared | undefined> | undefined;
  /** Head of the log when the latest attempt failed. */
  #failedAt = 0;
  readonly #closing = new AbortController();

  constructor(parts: CompactorParts, options: AutoCompactOptions, summarisers: Summarisers) {
    checkTrigger(options);
    this.#parts = parts;
    this.#options = options;
    this.#summarisers = summarisers;
  }

  async before(state: CompactingState, signal?: AbortSignal): Promise<boolean> {
    if (this.#closing.signal.aborted) return false;
    const source = sourceOf(state.loaded.slots, state.loaded, this.#options)?.slots ?? [];
    const removable = amountOf(source, state.countedPerEstimated);
    const options = { ...this.#options, ...definedFields(state.set) };
    const need = needOf({ ...state, removable }, options);
    if (need === "none") return false;
    // Apply a prepared summary before considering another one.
    if (this.#preparing && need === "prepare") return false;
    if (this.#preparing && (await this.#placePrepared(signal))) return true;
    const last = await this.#lastAttempt(state);
    if (needOf({ ...state, removable, last }, options) === "none") return false;
    if (!state.isForced && !pays(state, summaryPlace(state, source), await this.#summariserFacts()))
      return false;
    if (need === "compact") return this.#compact(signal);
    this.#preparing = this.#prepare();
    return false;
  }

  /** Drops a prepared summary, for example after a redaction, because it may contain the removed content. */
  forget(): void {
    this.#preparing = undefined;
  }

  /** Cancels a summary in preparation. */
  close(): void {
    this.#closing.abort();
  }

  /** Returns true if a summary was prepared and still applies. */
  async #placePrepared(signal: AbortSignal | undefined): Promise<boolean> {
    const prepared = await unlessAborted(this.#preparing, signal);
    this.#preparing = undefined;
    return prepared !== undefined && (await putInPlace(this.#parts, prepared)) !== undefined;
  }

  async #compact(signal: AbortSignal | undefined): Promise<boolean> {
    try {
      const compacted = await compactSession(this.#parts, await this.#compactOptions(signal));
      const isDone = compacted?.overlay !== undefined;
      if (!isDone) await this.#noteFailure();
      return isDone;
    } catch (error) {
      throwIfAborted(signal);
      // Another process is compacting; its summary will be there soon, and the policy keeps the window small meanwhile.
      if (isLonghaulError(error, "COMPACTION_BUSY") || isLonghaulError(error, "ABORTED")) return false;
      throw error;
    }
  }

  /** Ignores background failures: the summary is made again when it is needed. */
  async #prepare(): Promise<Prepared | undefined> {
    try {
      const prepared = await prepareSummary(this.#parts, await this.#compactOptions());
      if (!prepared) await this.#noteFailure();
      return prepared;
    } catch {
      return undefined;
    }
  }

  async #noteFailure(): Promise<void> {
    const { log, session } = this.#parts;
    this.#failedAt = (await log.store.entries.head(session)).seq;
  }

  /** The latest attempt according to the log, or a later failure that only this process knows of. */
  async #lastAttempt({ loaded, countedPerEstimated }: CompactingState): Promise<LastAttempt | undefined> {
    const { session, log } = this.#parts;
    const logged = await findLastAttempt(log.store.entries, session);
    const hasFailed = this.#failedAt > (logged?.seq ?? 0);
    const seq = hasFailed ? this.#failedAt : logged?.seq;
    const place = seq === undefined ? undefined : loaded.places.of({ session, seq });
    if (place === undefined) return undefined;
    const grown = loaded.slots.filter((slot) => slot.seq > place && !slot.isNote);
    const freed = hasFailed || !logged ? { tokens: 0, messages: 0 } : logged.freed;
    return {
      freed: { ...freed, tokens: freed.tokens * countedPerEstimated },
      grown: amountOf(grown, countedPerEstimated),
    };
  }

  async #compactOptions(signal?: AbortSignal): Promise<CompactOptions> {
    const closing = this.#closing.signal;
    return {
      ...this.#options,
      ...(await this.#summarisers()),
      signal: signal ? AbortSignal.any([closing, signal]) : closing,
    };
  }

  async #summariserFacts(): Promise<ModelFacts | undefined> {
    const { model } = await this.#summarisers();
    return model && this.#parts.factsOf(model.provider.id);
  }
}

function summaryPlace(
  { loaded, countedPerEstimated }: CompactingState,
  source: readonly Slot[],
): SummaryPlace {
  const from = source[0]?.seq ?? Number.POSITIVE_INFINITY;
  const removed = new Set(source);
  const later = loaded.slots.filter((slot) => slot.seq > from && !removed.has(slot));
  return {
    removableTokens: sizeOf(source) * countedPerEstimated,
    laterTokens: sizeOf(later) * countedPerEstimated,
  };
}

function amountOf(slots: readonly Slot[], countedPerEstimated: number): Amount {
  return { tokens: sizeOf(slots) * countedPerEstimated, messages: slots.length };
}

function definedFields({ threshold, maxMessages }: CompactingState["set"]): TriggerOptions {
  return {
    ...(threshold !== undefined && { threshold }),
    ...(maxMessages !== undefined && { maxMessages }),
  };
}

/** Waits for shared work; an abort ends the wait but not the work. */
async function unlessAborted<T>(work: Promise<T> | undefined, signal: AbortSignal | undefined) {
  if (!work || !signal) return work;
  throwIfAborted(signal);
  const over = new AbortController();
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { signal: over.signal });
  });
  try {
    const done = await Promise.race([work, aborted]);
    throwIfAborted(signal);
    return done;
  } finally {
    over.abort();
  }
}
