import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { runWithTimeLimit } from "../../../model/base/time-limit.ts";
import { isLonghaulError, throwIfAborted } from "../../../model/errors.ts";
import type { Usage } from "../../../model/usage.ts";
import type { Provider } from "../../../wire/provider/provider.ts";
import { ProviderError } from "../../../wire/provider/provider-error.ts";
import { retryLimits } from "../../../wire/provider/retry-after.ts";
import { type RetryOptions, withRetries } from "../../../wire/provider/with-retries.ts";
import { detectOverflow } from "../../limits/overflow.ts";
import type { Stretch } from "../../session/line-places.ts";
import { type Slot, sumSlotTokens } from "../../slot.ts";
import { estimateText } from "../../tokens/estimate.ts";
import { sanitizeSummary } from "../contract/sanitize-summary.ts";
import { buildSummaryPrompt } from "../contract/summary-prompt.ts";
import { type ExtractedSummary, extractSummary } from "../extractive/extract-summary.ts";
import { citeOf } from "../extractive/summary-candidate.ts";
import { judgeSummary, repairSummary } from "../gate/judge-summary.ts";
import { describeVerdict, type SummaryVerdict } from "../gate/summary-verdict.ts";
import { computeChunkTokens, SPLIT_SAFETY, splitByTokens } from "../plan/split-by-tokens.ts";

/** A smaller conversation is not worth splitting. */
const MIN_SPLIT_TOKENS = 4_000;
const MAX_PARALLEL = 4;
const MAX_DEPTH = 3;
const CHARACTERS_PER_TOKEN = 3;

/** The method that produced a summary, from best to last resort. */
export type Rung = "model" | "fallback" | "extractive" | "truncation";

/** A summarizer model and its window in tokens. */
export interface SummarizerModel {
  readonly provider: Provider;
  readonly window: number;
}

/** The content to summarize. */
interface LadderSource {
  readonly slots: readonly Slot[];
  readonly previous?: string;
}

export interface LadderOptions
  extends Pick<ModelSummaryOptions, "parts" | "instructions" | "template" | "signal"> {
  readonly model?: SummarizerModel;
  readonly fallback?: SummarizerModel;
  readonly maxTokens: number;
  /**
   * Maximum number of summaries per model until one passes the gate, and of requests for each while its provider fails;
   * default 3.
   */
  readonly tries?: number;
  /** Total time for all models; default 3 minutes. */
  readonly deadlineMs?: number;
  /** Retry options for requests while a provider fails; the backoff is never shorter than the provider asks for. */
  readonly retries?: RetryOptions;
  /** Maximum size of a summary relative to its source; default 0.5. */
  readonly mostShare?: number;
  readonly now?: () => number;
}

/** A try that produced no summary, and the reason. */
export interface FailedTry {
  readonly rung: Rung;
  readonly reason: string;
}

/** The summary and how it was produced. */
export interface LadderResult {
  readonly rung: Rung;
  readonly text: string;
  readonly parts: readonly PartSummary[];
  readonly failed: readonly FailedTry[];
  /** Usage of all model calls, including failed ones. */
  readonly usage: readonly { readonly model: string; readonly usage: Usage }[];
}

const TRIES = 3;
const DEADLINE_MS = 180_000;
const SMALLER_WINDOW = 0.5;

/**
 * Always produces a summary: by the model, by the fallback model, from verbatim content, or, if even that is not small
 * enough, as a single line that counts the omitted messages. Summaries by models must pass the gate. Throws only
 * ABORTED.
 */
export async function runLadder(source: LadderSource, options: LadderOptions): Promise<LadderResult> {
  const now = options.now ?? Date.now;
  const deadline = now() + (options.deadlineMs ?? DEADLINE_MS);
  const failed: FailedTry[] = [];
  const usage: { model: string; usage: Usage }[] = [];
  const rungs: readonly (readonly [Rung, SummarizerModel | undefined])[] = [
    ["model", options.model],
    ["fallback", options.fallback],
  ];
  for (const [rung, summariser] of rungs) {
    if (!summariser) continue;
    const note = (reason: string) => failed.push({ rung, reason });
    const spend = (used: Usage | undefined) =>
      used && usage.push({ model: summariser.provider.id, usage: used });
    const made = await tryModel(source, summariser, options, { deadline, now, note, spend });
    if (made) return { rung, ...made, failed, usage };
  }
  const { text } = extractFromSource(source, options);
  const verdict = judgeSource(source, text, options);
  if (isSmaller(source, text, options)) return { rung: "extractive", text, parts: [], failed, usage };
  failed.push({ rung: "extractive", reason: describeVerdict(verdict) });
  return { rung: "truncation", text: buildTruncationNote(source), parts: [], failed, usage };
}

interface LadderAttempt {
  readonly deadline: number;
  readonly now: () => number;
  readonly note: (reason: string) => void;
  readonly spend: (usage: Usage | undefined) => void;
}

async function tryModel(
  source: LadderSource,
  { provider, window }: SummarizerModel,
  options: LadderOptions,
  { deadline, now, note, spend }: LadderAttempt,
): Promise<{ readonly text: string; readonly parts: readonly PartSummary[] } | undefined> {
  let room = window;
  for (let tried = 0; tried < (options.tries ?? TRIES); tried++) {
    const left = deadline - now();
    if (left <= 0) {
      note("out of time");
      return undefined;
    }
    const lateError = () => new Error(`No summary within ${Math.ceil(left / 1_000)} s.`);
    const limit = { limitMs: left, signal: options.signal, lateError };
    const patient = withRetries(provider, limitRetries(left, options, note));
    try {
      const { text, parts } = await runWithTimeLimit(limit, (signal) =>
        summarizeByModel(patient, source.slots, source.previous, {
          ...options,
          window: room,
          signal,
          onUsage: spend,
        }),
      );
      const passed = passGate(source, text, options, note);
      if (passed !== undefined) return { text: passed, parts };
    } catch (error) {
      throwIfAborted(options.signal);
      note(error instanceof Error ? error.message : String(error));
      if (error instanceof ProviderError && error.usage) spend(error.usage);
      if (isOverflow(error)) room = Math.floor(room * SMALLER_WINDOW);
      else if (!canRetryHelp(error)) return undefined;
    }
  }
  return undefined;
}

/** The summary if it passes the gate, either unchanged or with missing content appended; undefined otherwise. */
function passGate(
  source: LadderSource,
  text: string,
  options: LadderOptions,
  note: (reason: string) => void,
): string | undefined {
  const verdict = judgeSource(source, text, options);
  if (verdict.ok) return text;
  const repaired = verdict.isRepairable
    ? repairSummary(text, verdict.missing, extractFromSource(source, options).sections)
    : undefined;
  const second = repaired === undefined ? verdict : judgeSource(source, repaired, options);
  if (second.ok) return repaired;
  note(`the gate: ${describeVerdict(second)}`);
  return undefined;
}

function judgeSource(source: LadderSource, summary: string, options: LadderOptions): SummaryVerdict {
  const { mostShare, instructions, template } = options;
  return judgeSummary({
    source: source.slots,
    summary,
    ...dropUndefined({ previous: source.previous, instructions }),
    options: { ...dropUndefined({ mostShare }), ...(template !== undefined && { sections: [] }) },
  });
}

function extractFromSource({ slots, previous }: LadderSource, options: LadderOptions): ExtractedSummary {
  return extractSummary(slots, {
    maxTokens: options.maxTokens,
    previous,
    instructions: options.instructions,
    share: options.mostShare,
  });
}

function isSmaller(
  { slots, previous = "" }: LadderSource,
  text: string,
  { mostShare = 0.5 }: LadderOptions,
): boolean {
  return estimateText(text) <= (sumSlotTokens(slots) + estimateText(previous)) * mostShare;
}

function buildTruncationNote({ slots }: LadderSource): string {
  const first = slots[0] as Slot;
  const last = slots.at(-1) as Slot;
  return `[${slots.length} earlier messages were left out; to see them: expand ${citeOf(first)} to ${citeOf(last)}]`;
}

/** Limits retry waits to the time left; if a provider asks for more, the next rung is tried at once. */
function limitRetries(
  leftMs: number,
  { tries = TRIES, retries = {} }: LadderOptions,
  note: (reason: string) => void,
): RetryOptions {
  const { mostWaitMs = retryLimits.mostWaitMs } = retries;
  return {
    tries,
    ...retries,
    mostWaitMs: Math.max(0, Math.min(mostWaitMs, Math.floor(leftMs))),
    onRetry(retry) {
      note(`${retry.error.message} (asked again after ${retry.delayMs} ms)`);
      retries.onRetry?.(retry);
    },
  };
}

/** A call that the provider aborted may be tried again; other failures were already retried where that could help. */
function canRetryHelp(error: unknown): boolean {
  return isLonghaulError(error, "ABORTED");
}

function isOverflow(error: unknown): boolean {
  return error instanceof ProviderError && detectOverflow(error.failure) !== undefined;
}

/** Options for a summary by a model. */
interface ModelSummaryOptions {
  /** The summarizer model's window, in tokens. */
  readonly window: number;
  /** Maximum tokens of the summary. */
  readonly maxTokens: number;
  /** Minimum number of parts to summarize in parallel; default 2. */
  readonly parts?: number;
  readonly instructions?: string;
  /** A custom prompt template; see `buildSummaryPrompt`. */
  readonly template?: string;
  readonly signal?: AbortSignal;
  /** Called with the usage of each call. */
  readonly onUsage?: (usage: Usage | undefined) => void;
}

/** The summary of one part of the source. */
interface PartSummary {
  readonly stretch: Stretch;
  readonly text: string;
}

/** A model's summary; `parts` is empty if one call was enough. */
interface ModelSummary {
  readonly text: string;
  readonly parts: readonly PartSummary[];
}

/**
 * Asks a model for a summary: summarizes parts in parallel, then merges their summaries, repeatedly if they are too
 * large for one call. `previous` is the summary of everything before.
 */
async function summarizeByModel(
  provider: Provider,
  slots: readonly Slot[],
  previous: string | undefined,
  options: ModelSummaryOptions,
): Promise<ModelSummary> {
  const mostTokens = computeChunkTokens(slots, options.window);
  const isOne = sumSlotTokens(slots) <= Math.min(MIN_SPLIT_TOKENS, mostTokens);
  const split = isOne ? [slots] : splitByTokens(slots, { parts: options.parts ?? 2, mostTokens });
  if (split.length === 1)
    return {
      text: await requestSummary(provider, { messages: split[0] ?? [], previous }, options),
      parts: [],
    };
  const texts = await runInGroups(split, (part) =>
    requestSummary(provider, { messages: part, previous: undefined }, options),
  );
  const parts = split.map((part, index) => ({
    stretch: { from: (part[0] as Slot).seq, to: (part.at(-1) as Slot).seq },
    text: texts[index] as string,
  }));
  return { text: await mergeSummaries(provider, parts, previous, options, 1), parts };
}

/** Merges several summaries into one; if they are too large together, merges them in groups first. */
async function mergeSummaries(
  provider: Provider,
  parts: readonly PartSummary[],
  previous: string | undefined,
  options: ModelSummaryOptions,
  depth: number,
): Promise<string> {
  const room = Math.floor((options.window * 0.5) / SPLIT_SAFETY);
  const groups = depth < MAX_DEPTH ? groupSummaries(parts, room) : [parts];
  if (groups.length === 1) {
    const transcript = parts.map(({ text }, index) => `Notes, part ${index + 1}:\n${text}`).join("\n\n");
    return requestSummary(provider, { transcript: clipNotes(transcript, room), previous }, options);
  }
  const merged = await runInGroups(groups, async (group) => ({
    stretch: { from: group[0]?.stretch.from ?? 0, to: group.at(-1)?.stretch.to ?? 0 },
    text: await mergeSummaries(provider, group, undefined, options, depth + 1),
  }));
  return mergeSummaries(provider, merged, previous, options, depth + 1);
}

function groupSummaries(parts: readonly PartSummary[], room: number): readonly (readonly PartSummary[])[] {
  const groups: PartSummary[][] = [];
  let tokens = 0;
  for (const part of parts) {
    const size = estimateText(part.text);
    const group = groups.at(-1);
    const fits = group && (tokens + size <= room || group.length < 2);
    if (fits) group.push(part);
    else groups.push([part]);
    tokens = fits ? tokens + size : size;
  }
  return groups.length < parts.length ? groups : [parts];
}

async function requestSummary(
  provider: Provider,
  what: {
    readonly messages?: readonly Slot[];
    readonly transcript?: string;
    readonly previous: string | undefined;
  },
  { instructions, template, maxTokens, signal, onUsage }: ModelSummaryOptions,
): Promise<string> {
  const { previous, ...rest } = what;
  const { system, user } = buildSummaryPrompt({
    ...rest,
    ...dropUndefined({ previousSummary: previous, instructions, template }),
    maxTokens,
  });
  const { text, usage } = await provider.generate({
    system,
    prompt: user,
    maxOutputTokens: Math.ceil(maxTokens * SPLIT_SAFETY * 2),
    ...dropUndefined({ signal }),
  });
  onUsage?.(usage);
  return sanitizeSummary(text);
}

function clipNotes(text: string, tokens: number): string {
  const most = tokens * CHARACTERS_PER_TOKEN;
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}\n[… ${text.length - most} characters of these notes are left out …]`;
}

async function runInGroups<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<readonly U[]> {
  const results: U[] = [];
  for (let at = 0; at < items.length; at += MAX_PARALLEL)
    results.push(...(await Promise.all(items.slice(at, at + MAX_PARALLEL).map(work))));
  return results;
}
