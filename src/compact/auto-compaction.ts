import { isLonghaulError, throwIfAborted } from "../model/errors.ts";
import type { Compacting, CompactingState } from "../window/live/compacting.ts";
import type { ModelFacts } from "../window/models/facts.ts";
import {
  type CompactOptions,
  type CompactorParts,
  compactSession,
  type Prepared,
  prepareSummary,
  putInPlace,
} from "./compactor.ts";
import { pays } from "./plan/pays.ts";
import { checkTrigger, needOf, type TriggerOptions } from "./plan/trigger.ts";

/** When and how a session is compacted by itself. */
export interface AutoCompactOptions
  extends TriggerOptions,
    Omit<CompactOptions, "isDryRun" | "signal" | "model" | "fallback"> {}

/** The models that are asked, once they are needed. */
export type Summarisers = () => Promise<Pick<CompactOptions, "model" | "fallback">>;

/**
 * Compacts a session when its window asks for it. From a soft mark on the summary is made in the background, so that the
 * call that needs it seldom waits; what is said meanwhile stays behind it.
 */
export class AutoCompaction implements Compacting {
  readonly #parts: CompactorParts;
  readonly #options: AutoCompactOptions;
  readonly #summarisers: Summarisers;
  #preparing: Promise<Prepared | undefined> | undefined;
  readonly #closing = new AbortController();

  constructor(parts: CompactorParts, options: AutoCompactOptions, summarisers: Summarisers) {
    checkTrigger(options);
    this.#parts = parts;
    this.#options = options;
    this.#summarisers = summarisers;
  }

  async before(state: CompactingState, signal?: AbortSignal): Promise<boolean> {
    const need = needOf(state, this.#options);
    if (need === "none" || this.#closing.signal.aborted) return false;
    if (!state.isForced && !pays(state, await this.#summariserFacts())) return false;
    if (need === "prepare" && !state.isForced) {
      this.#preparing ??= this.#prepare();
      return false;
    }
    return this.#compact(signal);
  }

  async force(): Promise<boolean> {
    return this.#compact();
  }

  /** Drops what was prepared, as after a redaction: it may hold what was removed. */
  forget(): void {
    this.#preparing = undefined;
  }

  /** Gives up what is being prepared. */
  close(): void {
    this.#closing.abort();
  }

  async #compact(signal?: AbortSignal): Promise<boolean> {
    const prepared = await unlessAborted(this.#preparing, signal);
    this.#preparing = undefined;
    if (prepared && (await putInPlace(this.#parts, prepared)) !== undefined) return true;
    try {
      const compacted = await compactSession(this.#parts, await this.#compactOptions(signal));
      return compacted?.overlay !== undefined;
    } catch (error) {
      throwIfAborted(signal);
      // Someone else is at it: their summary will be there soon, and the policy keeps the window small meanwhile.
      if (isLonghaulError(error, "COMPACTION_BUSY") || isLonghaulError(error, "ABORTED")) return false;
      throw error;
    }
  }

  /** A failure in the background is no one's business: the summary is made anew when it is needed. */
  async #prepare(): Promise<Prepared | undefined> {
    try {
      return await prepareSummary(this.#parts, await this.#compactOptions());
    } catch {
      return undefined;
    }
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

/** Waits for work that others wait for, too: who is aborted waits no longer, and the work goes on. */
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
