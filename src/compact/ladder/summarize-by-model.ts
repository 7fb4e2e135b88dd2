import type { Usage } from "../../model/usage.ts";
import type { Provider } from "../../provider/provider.ts";
import type { Stretch } from "../../window/live/line-places.ts";
import type { Slot } from "../../window/slot.ts";
import { sumSlotTokens } from "../../window/sum-slot-tokens.ts";
import { estimateText } from "../../window/tokens/estimate.ts";
import { sanitizeSummary } from "../contract/sanitize-summary.ts";
import { buildSummaryPrompt } from "../contract/summary-prompt.ts";
import { computeChunkTokens, SPLIT_SAFETY, splitByTokens } from "../plan/split-by-tokens.ts";

/** Options for a summary by a model. */
export interface ModelSummaryOptions {
  /** The summarizer model's window, in tokens. */
  readonly window: number;
  /** Maximum tokens of the summary. */
  readonly budgetTokens: number;
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
export interface PartSummary {
  readonly stretch: Stretch;
  readonly text: string;
}

/** A model's summary; `parts` is empty if one call was enough. */
interface ModelSummary {
  readonly text: string;
  readonly parts: readonly PartSummary[];
}

/** A smaller conversation is not worth splitting. */
const MIN_SPLIT_TOKENS = 4_000;
const MAX_PARALLEL = 4;
const MAX_DEPTH = 3;
const CHARACTERS_PER_TOKEN = 3;

/**
 * Asks a model for a summary: summarizes parts in parallel, then merges their summaries, repeatedly if they are too
 * large for one call. `previous` is the summary of everything before.
 */
export async function summarizeByModel(
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
  { instructions, template, budgetTokens, signal, onUsage }: ModelSummaryOptions,
): Promise<string> {
  const { previous, ...rest } = what;
  const { system, user } = buildSummaryPrompt({
    ...rest,
    ...(previous !== undefined && { previousSummary: previous }),
    ...(instructions !== undefined && { instructions }),
    ...(template !== undefined && { template }),
    budgetTokens,
  });
  const { text, usage } = await provider.generate({
    system,
    prompt: user,
    maxOutputTokens: Math.ceil(budgetTokens * SPLIT_SAFETY * 2),
    ...(signal && { signal }),
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
