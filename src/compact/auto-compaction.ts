import { isLonghaulError } from "../model/errors.ts";
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

  async before(state: CompactingState): Promise<boolean> {
    const need = needOf(state, this.#options);
    if (need === "none" || this.#closing.signal.aborted) return false;
    if (!state.isForced && !pays(state, await this.#summariserFacts())) return false;
    if (need === "prepare" && !state.isForced) {
      this.#preparing ??= this.#prepare();
      return false;
    }
    return this.#compact();
  }

  async force(): Promise<boolean> {
    return this.#compact();
  }

  /** Gives up what is being prepared. */
  close(): void {
    this.#closing.abort();
  }

  async #compact(): Promise<boolean> {
    const prepared = await this.#preparing;
    this.#preparing = undefined;
    if (prepared && (await putInPlace(this.#parts, prepared)) !== undefined) return true;
    try {
      const compacted = await compactSession(this.#parts, await this.#compactOptions());
      return compacted?.overlay !== undefined;
    } catch (error) {
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

  async #compactOptions(): Promise<CompactOptions> {
    return { ...this.#options, ...(await this.#summarisers()), signal: this.#closing.signal };
  }

  async #summariserFacts(): Promise<ModelFacts | undefined> {
    const { model } = await this.#summarisers();
    return model && this.#parts.factsOf(model.provider.id);
  }
}
