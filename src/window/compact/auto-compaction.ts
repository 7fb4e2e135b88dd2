import { toEntry } from "../../log/entry-body.ts";
import type { EntryStore } from "../../log/store/entry-store.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { DEFAULT_THRESHOLD } from "../../model/default-threshold.ts";
import type { Entry, OverlayBody, SessionId, UsageBody } from "../../model/entry.ts";
import { createArgumentError, isLonghaulError, throwIfAborted } from "../../model/errors.ts";
import type { Message } from "../../model/message.ts";
import { hasOwnText } from "../inline-tool-output.ts";
import type { ModelFacts } from "../models/model-data.ts";
import type { LoadedWindow } from "../session/load-window.ts";
import type { CompactionState, WindowCompactor } from "../session/window-compactor.ts";
import { type Slot, sumSlotTokens } from "../slot.ts";
import { isRefusedSummary, isSummaryUsage } from "../usage/usage-meta.ts";
import {
  applySummary,
  type CompactOptions,
  type CompactorDeps,
  compactSession,
  type PreparedSummary,
  prepareSummary,
  SUMMARY_SHARE,
} from "./compactor.ts";
import { findCompactionSource, type SparingOptions } from "./plan/compaction-source.ts";

const PREPARE_AT = 80;
const MAX_MESSAGES = 200;
/** Minimum share of the window that a summary must replace, and that the window must grow by between two attempts. */
const MIN_PROGRESS = 0.05;
/** The same share between two attempts if the earlier one freed less than `MIN_PROGRESS`. */
const MIN_GROWTH_AFTER_FAILURE = 0.2;

/** When and how a session is compacted automatically. */
export interface AutoCompactOptions
  extends TriggerOptions,
    Omit<CompactOptions, "dryRun" | "signal" | "model" | "fallback"> {}

/** Loads the summarizer models when they are first needed. */
type SummarizerLoader = () => Promise<Pick<CompactOptions, "model" | "fallback">>;

/**
 * Compacts a session when its window needs it. From a soft threshold on, it prepares the summary in the background, so
 * that calls seldom wait; messages added meanwhile stay after the summary.
 */
export class AutoCompaction implements WindowCompactor {
  readonly #deps: CompactorDeps;
  readonly #options: AutoCompactOptions;
  readonly #loadSummarizers: SummarizerLoader;
  #preparing: Promise<PreparedSummary | undefined> | undefined;
  /** Head of the log when the latest attempt failed. */
  #failedAt = 0;
  readonly #closing = new AbortController();

  constructor(parts: CompactorDeps, options: AutoCompactOptions, summarisers: SummarizerLoader) {
    checkTrigger(options);
    this.#deps = parts;
    this.#options = options;
    this.#loadSummarizers = summarisers;
  }

  async compactIfDue(state: CompactionState, signal?: AbortSignal): Promise<boolean> {
    if (this.#closing.signal.aborted) return false;
    const options = {
      ...dropUndefined({ maxTurns: state.policyTurns }),
      ...this.#options,
      ...pickTrigger(state.modelSettings),
    };
    const turns = countTurns(state.loaded);
    const plans = (state.isForced ? (["held", undefined] as const) : (["shown"] as const)).map((spares) => {
      const keep = { ...this.#options, spares };
      const source = findCompactionSource(state.loaded.slots, state.loaded, keep)?.slots ?? [];
      const removable = estimateAmount(source, state.countedPerEstimated);
      const isEnough = !spares || removable.tokens * (1 - SUMMARY_SHARE) >= state.excessTokens;
      const need = isEnough ? chooseCompactionAction({ ...state, removable, turns }, options) : "none";
      return { spares, source, removable, need };
    });
    // Content that a person has brought back is summarized only if the limit forces it and the rest is too little.
    const plan = plans.find(({ need }) => need !== "none");
    if (!plan) return false;
    const { spares, source, removable, need } = plan;
    // Apply a prepared summary before considering another one.
    if (this.#preparing && need === "prepare") return false;
    if (this.#preparing && (await this.#applyPrepared(signal))) return true;
    const last = await this.#findLastAttempt(state);
    if (chooseCompactionAction({ ...state, removable, turns, last }, options) === "none") return false;
    if (
      !state.isForced &&
      !isWorthSummarizing(state, estimateSummaryPlace(state, source), await this.#getSummarizerFacts())
    )
      return false;
    if (need === "compact") return this.#compact(spares, signal);
    this.#preparing = this.#prepare(spares);
    return false;
  }

  /** Cancels a summary in preparation. */
  close(): void {
    this.#closing.abort();
  }

  /** Returns true if a summary was prepared and still applies. */
  async #applyPrepared(signal: AbortSignal | undefined): Promise<boolean> {
    const prepared = await waitUnlessAborted(this.#preparing, signal);
    this.#preparing = undefined;
    return prepared !== undefined && (await applySummary(this.#deps, prepared)) !== undefined;
  }

  async #compact(spares: SparingOptions["spares"], signal: AbortSignal | undefined): Promise<boolean> {
    try {
      const compacted = await compactSession(this.#deps, { ...(await this.#buildOptions(signal)), spares });
      const isDone = compacted?.overlay !== undefined;
      if (!isDone) await this.#recordFailure();
      return isDone;
    } catch (error) {
      throwIfAborted(signal);
      // Another process is compacting; its summary will be there soon, and the policy keeps the window small meanwhile.
      if (isLonghaulError(error, "COMPACTION_BUSY") || isLonghaulError(error, "ABORTED")) return false;
      throw error;
    }
  }

  /** Ignores background failures: the summary is made again when it is needed. */
  async #prepare(spares: SparingOptions["spares"]): Promise<PreparedSummary | undefined> {
    try {
      const prepared = await prepareSummary(this.#deps, { ...(await this.#buildOptions()), spares });
      if (!prepared) await this.#recordFailure();
      return prepared;
    } catch {
      return undefined;
    }
  }

  async #recordFailure(): Promise<void> {
    const { log, session } = this.#deps;
    this.#failedAt = (await log.store.entries.head(session)).seq;
  }

  /** The latest attempt according to the log, or a later failure that only this process knows of. */
  async #findLastAttempt({ loaded, countedPerEstimated }: CompactionState): Promise<LastAttempt | undefined> {
    const { session, log } = this.#deps;
    const logged = await findLastAttempt(log.store.entries, session);
    const hasFailed = this.#failedAt > (logged?.seq ?? 0);
    const seq = hasFailed ? this.#failedAt : logged?.seq;
    const place = seq === undefined ? undefined : loaded.places.findPlace({ session, seq });
    if (place === undefined) return undefined;
    const grown = loaded.slots.filter((slot) => slot.seq > place && !slot.isNote);
    const freed = hasFailed || !logged ? { tokens: 0, messages: 0 } : logged.freed;
    return { freed, grown: estimateAmount(grown, countedPerEstimated), turns: countTurns(loaded, place) };
  }

  async #buildOptions(signal?: AbortSignal): Promise<CompactOptions> {
    const closing = this.#closing.signal;
    return {
      ...this.#options,
      ...(await this.#loadSummarizers()),
      signal: signal ? AbortSignal.any([closing, signal]) : closing,
    };
  }

  async #getSummarizerFacts(): Promise<ModelFacts | undefined> {
    const { model } = await this.#loadSummarizers();
    return model && this.#deps.factsOf(model.provider.id);
  }
}

function estimateSummaryPlace(
  { loaded, countedPerEstimated }: CompactionState,
  source: readonly Slot[],
): SummaryPlace {
  const from = source[0]?.seq ?? Number.POSITIVE_INFINITY;
  const removed = new Set(source);
  const later = loaded.slots.filter((slot) => slot.seq > from && !removed.has(slot));
  const count = (slots: readonly Slot[]) => sumSlotTokens(slots) * countedPerEstimated;
  return {
    removableTokens: count(source),
    outputTokens: count(source.filter(({ message }) => isWork(message))),
    sourceTokens: count(source) + estimateLeftTokens(loaded) * countedPerEstimated,
    laterTokens: count(later),
  };
}

/** True for tool calls and their output, which policies can remove. */
function isWork({ role, parts }: Message): boolean {
  return role === "tool" || parts.some(({ type }) => type === "tool-call" || type === "tool-result");
}

/** Estimated tokens that left the window since the last summary, and that the next one reads again. */
function estimateLeftTokens(loaded: LoadedWindow): number {
  const { slots, lineTokens, summaries } = loaded;
  return summaries.size === 0
    ? Math.max(0, lineTokens - sumSlotTokens(slots))
    : sumSlotTokens(findUnsummarized(loaded));
}

function estimateAmount(slots: readonly Slot[], countedPerEstimated: number): Amount {
  return { tokens: sumSlotTokens(slots) * countedPerEstimated, messages: slots.length };
}

/** Turns after a place that no summary replaces, including those that have left the window. */
function countTurns(loaded: LoadedWindow, after = 0): number {
  return [...findUnsummarized(loaded), ...loaded.slots].filter(
    ({ message, seq, isNote }) => message.role === "user" && seq > after && !isNote && hasOwnText(message),
  ).length;
}

/** Messages that left the window, as far as they were read, and that no summary replaces. */
function findUnsummarized({ past, lastingHidden, summaries }: LoadedWindow): readonly Slot[] {
  const isSummarized = ({ seq }: Slot) => lastingHidden.some(({ from, to }) => from <= seq && seq <= to);
  return summaries.size === 0 ? past : past.filter((slot) => !isSummarized(slot));
}

/** The fields that are set, without the other settings of the model. */
function pickTrigger({ threshold, maxMessages, maxTurns }: CompactionState["modelSettings"]): TriggerOptions {
  return dropUndefined({ threshold, maxMessages, maxTurns });
}

/** Waits for shared work; an abort ends the wait but not the work. */
async function waitUnlessAborted<T>(work: Promise<T> | undefined, signal: AbortSignal | undefined) {
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

/** An attempt to summarize, as recorded in the log. */
interface LoggedAttempt {
  /** Seq of the entry that records it. */
  readonly seq: number;
  readonly freed: Amount;
}

/** Maximum number of entries searched, and of overlay and usage entries read among them. */
const MAX_ENTRIES = 5_000;
const MAX_TRACES = 500;
const NOTHING: Amount = { tokens: 0, messages: 0 };
/** The effect of a summary that was never applied is unknown, and may have been large. */
const UNKNOWN: Amount = { tokens: Number.POSITIVE_INFINITY, messages: Number.POSITIVE_INFINITY };

/**
 * Finds the latest attempt to summarize a session: the overlay of its summary, or only the usage of its models if the
 * summary was rejected. Reading it from the log makes it known to every process that opens the session.
 */
async function findLastAttempt(entries: EntryStore, session: SessionId): Promise<LoggedAttempt | undefined> {
  const { seq: head } = await entries.head(session);
  const found = await entries.read(session, {
    from: Math.max(1, head - MAX_ENTRIES),
    to: head,
    limit: MAX_TRACES,
    order: "descending",
    kinds: ["overlay", "usage"],
  });
  let used: LoggedAttempt | undefined;
  for (const stored of found) {
    const entry = toEntry(session, stored);
    if (isSummary(entry)) {
      const { tokensBefore = 0, tokensAfter = 0, summary, seq } = entry;
      const freed = { tokens: tokensBefore - tokensAfter, messages: summary?.left.entries ?? 0 };
      return { seq: Math.max(seq, used?.seq ?? 0), freed };
    }
    // Older versions wrote usage after the overlay of the same summary.
    const report = entry as Entry<UsageBody>;
    if (isRefusedSummary(report)) return used ?? { seq: entry.seq, freed: NOTHING };
    if (isSummaryUsage(report)) used ??= { seq: entry.seq, freed: UNKNOWN };
    else if (used) return used;
  }
  return used;
}

function isSummary(entry: Entry): entry is Entry<OverlayBody> {
  return entry.kind === "overlay" && entry.summary !== undefined;
}

/** Expected maximum of a summary, in tokens. */
const SUMMARY_TOKENS = 2_500;
/** Tokens of the instructions to a model that writes a summary. */
const PROMPT_TOKENS = 1_200;

/** The tokens that a summary is about. */
export interface SummaryPlace {
  /** Tokens of the window that it replaces, and the part of them that is tool calls and their output. */
  readonly removableTokens: number;
  readonly outputTokens: number;
  /** Tokens that a model reads to write it: a summary is made from the log, not from an edited window. */
  readonly sourceTokens: number;
  /** Tokens after it, which have to be written to the cache again. */
  readonly laterTokens: number;
}

/**
 * True if a summary that is not needed yet pays for itself within the expected calls: the cost of making it (a model
 * reads the source and writes the summary) and of writing the window to the provider's cache again, compared with the
 * savings of smaller prompts. Tool output that the policy's extract would replace without a model is not a saving of the
 * summary. A summary without a model costs nothing to make.
 */
export function isWorthSummarizing(
  { expectedCalls, facts, isHot, extractShare }: CompactionState,
  { removableTokens, outputTokens, sourceTokens, laterTokens }: SummaryPlace,
  summarizer: ModelFacts | undefined,
): boolean {
  const summary = Math.min(SUMMARY_TOKENS, removableTokens * SUMMARY_SHARE);
  const extracted = summarizer && extractShare !== undefined ? outputTokens * (1 - extractShare) : 0;
  const saved = removableTokens - extracted - summary;
  const making = summarizer
    ? (sourceTokens + PROMPT_TOKENS) * summarizer.prices.input + summary * summarizer.prices.output
    : 0;
  const rewritten = laterTokens + summary;
  const writing = isHot ? rewritten * (facts.prices.cacheWrite - facts.prices.cacheRead) : 0;
  return making + writing <= saved * facts.prices.cacheRead * expectedCalls;
}

/** When a session is compacted automatically. */
interface TriggerOptions {
  /** Percentage of the model's window, 5 to 100; default 75. The models table overrides it. */
  readonly threshold?: number;
  /** Number of messages in the window; default 200, Infinity for no limit. The models table overrides it. */
  readonly maxMessages?: number;
  /** Turns since the last summary; unlimited unless the policy or the models table limits them. */
  readonly maxTurns?: number;
  /** Percentage of the threshold at which a summary is prepared in the background; default 80. */
  readonly prepareAt?: number;
}

/** Do nothing, start to prepare a summary, or apply one. */
type CompactionAction = "none" | "prepare" | "compact";

/** Size of a conversation by both measures that can trigger a summary. */
interface Amount {
  readonly tokens: number;
  readonly messages: number;
}

/** State of a window before a call that decides about a summary; tokens as the provider counts them. */
interface WindowState extends Amount {
  /** The model's window. */
  readonly window: number;
  /** Turns in the window. */
  readonly turns: number;
  /** True if the request is too large to send. */
  readonly isForced: boolean;
  /** The part of the window that a summary would replace. */
  readonly removable: Amount;
  /** The latest attempt to summarize; undefined if there was none. */
  readonly last?: LastAttempt | undefined;
}

/** The latest attempt to summarize a session, whatever its outcome. */
interface LastAttempt {
  /** The amount it removed from the window; zero if its summary was rejected. */
  readonly freed: Amount;
  /** Growth of the conversation since the attempt. */
  readonly grown: Amount;
  /** Turns since the attempt. */
  readonly turns: number;
}

/**
 * Decides whether a window needs a summary. Two attempts are always a share of the window apart, so their number is
 * bounded by the length of the conversation: a first request or pins above the threshold do not trigger a summary on
 * every call.
 */
export function chooseCompactionAction(state: WindowState, options: TriggerOptions): CompactionAction {
  const { threshold = DEFAULT_THRESHOLD, prepareAt = PREPARE_AT, maxMessages = MAX_MESSAGES } = options;
  const { maxTurns = Number.POSITIVE_INFINITY } = options;
  const share = (state.tokens / state.window) * 100;
  const needs: readonly CompactionAction[] = [
    canSummaryHelp(state, "tokens", state.window)
      ? chooseActionAt(state.isForced ? 1 : share / threshold, prepareAt / 100)
      : "none",
    canSummaryHelp(state, "messages", maxMessages)
      ? chooseActionAt(state.messages / (maxMessages + 1), prepareAt / 100)
      : "none",
    // A few short turns are not worth a summary.
    state.removable.tokens >= state.window * MIN_PROGRESS
      ? chooseActionAt((state.last?.turns ?? state.turns) / maxTurns, prepareAt / 100)
      : "none",
  ];
  return needs.find((need) => need === "compact") ?? needs.find((need) => need === "prepare") ?? "none";
}

/**
 * True if a summary can free a real share of the window and the conversation has grown enough since the latest attempt.
 */
function canSummaryHelp(
  { removable, last }: Pick<WindowState, "removable" | "last">,
  measure: keyof Amount,
  whole: number,
): boolean {
  if (removable[measure] < whole * MIN_PROGRESS) return false;
  if (!last) return true;
  const isProgress = last.freed[measure] >= whole * MIN_PROGRESS;
  return last.grown[measure] >= whole * (isProgress ? MIN_PROGRESS : MIN_GROWTH_AFTER_FAILURE);
}

function chooseActionAt(share: number, prepareAt: number): CompactionAction {
  if (share >= 1) return "compact";
  return share >= prepareAt ? "prepare" : "none";
}

/** Throws ARGUMENT_INVALID for values out of range. */
function checkTrigger({ threshold, maxMessages, maxTurns, prepareAt }: TriggerOptions): void {
  const isShare = (value: number | undefined, least: number) =>
    value === undefined || (value >= least && value <= 100);
  if (!isShare(threshold, 5)) throw createArgumentError("threshold", threshold, "5 to 100, in percent");
  if (!isShare(prepareAt, 1)) throw createArgumentError("prepareAt", prepareAt, "1 to 100, in percent");
  const isCount = (value: number | undefined, least: number) =>
    value === undefined ||
    (value >= least && (Number.isInteger(value) || value === Number.POSITIVE_INFINITY));
  if (!isCount(maxMessages, 2))
    throw createArgumentError("maxMessages", maxMessages, "a whole number from 2 on, or Infinity");
  if (!isCount(maxTurns, 1))
    throw createArgumentError("maxTurns", maxTurns, "a whole number from 1 on, or Infinity");
}
