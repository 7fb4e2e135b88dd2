import type { Blobs } from "../log/blobs.ts";
import type { Lines } from "../log/lines.ts";
import type { Log } from "../log/log.ts";
import type { Entry, OverlayBody, SessionId, UsageBody } from "../model/entry.ts";
import { throwIfAborted } from "../model/errors.ts";
import { textOfMessage } from "../model/message.ts";
import type { SingleEdit } from "../model/overlay.ts";
import type { Receipt } from "../model/receipt.ts";
import { appendOverlay } from "../window/live/append-overlay.ts";
import type { HoldingOverlay } from "../window/live/in-effect.ts";
import { lastingToName } from "../window/live/lasting-to-name.ts";
import { type LoadedWindow, loadWindow } from "../window/live/load-window.ts";
import { REFUSED_SUMMARY_REMARK, SUMMARY_REMARK } from "../window/live/meter.ts";
import { namesLeft } from "../window/live/names-left.ts";
import { storedEdit } from "../window/live/place-edit.ts";
import { wholeMessages } from "../window/live/whole-messages.ts";
import { costOfUsage } from "../window/models/cost-of-usage.ts";
import { sizeOf } from "../window/size.ts";
import type { Slot } from "../window/slot.ts";
import { estimateMessage } from "../window/tokens/estimate.ts";
import type { FactsOf } from "../window/usage/ledger.ts";
import { type Climbed, climb, type FailedTry, type LadderOptions, type Rung } from "./ladder/climb.ts";
import { withLease } from "./lease.ts";
import { type Keep, type Source, sourceOf } from "./plan/source.ts";

/** Dependencies of a compaction. */
export interface CompactorParts {
  readonly session: SessionId;
  readonly log: Log;
  readonly lines: Lines;
  readonly flush: () => Promise<void>;
  /** Model prices, to compute the cost of summaries. */
  readonly factsOf: FactsOf;
}

export interface CompactOptions extends Keep, Omit<LadderOptions, "budgetTokens" | "now"> {
  /** Maximum tokens of the summary; by default a fifth of its source, at most 4,000. */
  readonly budgetTokens?: number;
  /** True to see the summary and its effect without changing anything. */
  readonly isDryRun?: boolean;
}

/** The result of a compaction, or of a dry run. */
export interface Compacted {
  /** Seq of the overlay; undefined for a dry run. */
  readonly overlay?: number;
  readonly rung: Rung;
  readonly summary: string;
  readonly failed: readonly FailedTry[];
  /** The window before and after; `left` lists the removed entries and names. */
  readonly before: readonly Slot[];
  readonly after: readonly Slot[];
  readonly tokens: { readonly without: number; readonly with: number };
  readonly left: Receipt["left"];
  /** Usage of all model calls. */
  readonly usage: Climbed["usage"];
  /** Total cost in US dollars; undefined if unknown. */
  readonly cost?: number;
}

const MOST_SOURCE_TOKENS = 1_000_000;
const LARGEST_SUMMARY = 4_000;
const LEAST_SUMMARY = 300;
const SUMMARY_SHARE = 0.2;
const MOST_TRIES = 3;
const MOST_REASON = 200;

/** A summary that is ready to be applied. */
export interface Prepared {
  readonly window: LoadedWindow;
  readonly edit: SingleEdit;
  readonly compacted: Compacted;
}

/**
 * Compacts a session; undefined if there is nothing new since the last summary. Messages appended meanwhile stay after
 * the summary.
 */
export async function compactSession(
  parts: CompactorParts,
  options: CompactOptions = {},
): Promise<Compacted | undefined> {
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const prepared = await prepareSummary(parts, options);
    if (!prepared || options.isDryRun) return prepared?.compacted;
    const overlay = await putInPlace(parts, prepared);
    if (overlay !== undefined) return { ...prepared.compacted, overlay };
  }
  return undefined;
}

/** Makes a summary without applying it. Throws COMPACTION_BUSY if another process is compacting the session. */
export async function prepareSummary(
  parts: CompactorParts,
  options: CompactOptions = {},
): Promise<Prepared | undefined> {
  await parts.flush();
  return withLease(parts.log, parts.session, options.signal, async (signal) => {
    const prepared = await makeSummary(parts, { ...options, signal });
    throwIfAborted(signal);
    return prepared;
  });
}

/**
 * Applies a summary in one step and returns the seq of the overlay. Undefined, with nothing changed, if the line was
 * changed, pinned, edited by hand or summarized by others since the summary was made, because it may no longer match.
 */
export async function putInPlace(
  { log, session }: CompactorParts,
  { window, edit, compacted }: Prepared,
): Promise<number | undefined> {
  const { tokens, rung, cost, failed } = compacted;
  const body: OverlayBody = {
    kind: "overlay",
    author: "longhaul",
    reason: [
      `summary by ${rung}`,
      ...(cost ? [`$${cost.toFixed(4)}`] : []),
      ...(failed[0] ? [`${failed[0].rung} failed: ${oneLine(failed[0].reason)}`] : []),
    ].join(", "),
    tokensBefore: tokens.without,
    tokensAfter: tokens.with,
    summary: { by: rung, ...(cost !== undefined && { cost }), left: compacted.left },
    edit: storedEdit(edit, session, window.places),
  };
  return appendOverlay(log, session, body, window.head, (entry) => !isPassingPlan(entry));
}

function oneLine(reason: string): string {
  return reason.replaceAll(/\s+/g, " ").slice(0, MOST_REASON).toWellFormed();
}

/** Plans of policies do not affect a summary, which is made from the log; pins, lines and all other overlays do. */
function isPassingPlan(entry: Entry): boolean {
  return (
    entry.kind === "overlay" &&
    entry.edit.type === "plan" &&
    !entry.edit.edits.some(({ isLasting }) => isLasting)
  );
}

async function makeSummary(parts: CompactorParts, options: CompactOptions): Promise<Prepared | undefined> {
  const window = await load(parts, true);
  const found = sourceOf(window.slots, window, options);
  if (!found) return undefined;
  const source = { ...found, slots: await wholeSlots(found.slots, parts.log.blobs) };
  const climbed = await climb(
    { slots: source.slots, ...(source.previous && { previous: textOfMessage(source.previous.message) }) },
    { ...options, budgetTokens: options.budgetTokens ?? budgetOf(source), now: () => parts.log.clock.now() },
  );
  const edit = summaryEdit(window, source, climbed);
  const shown = window.overlays.some(isPassing) ? (await load(parts, false)).slots : window.slots;
  const compacted = compactedOf(parts, { shown, said: window.slots }, source, climbed);
  const isSmaller = compacted.tokens.with < compacted.tokens.without;
  if (!options.isDryRun) await logUsage(parts, climbed, isSmaller);
  return isSmaller ? { window, edit, compacted } : undefined;
}

/** Logs the usage of models, whether or not their summary is applied; a rejected summary always leaves a trace. */
async function logUsage({ log, session }: CompactorParts, climbed: Climbed, isUsed: boolean): Promise<void> {
  const { usage, rung, failed } = climbed;
  const wasAsked = [rung, ...failed.map((one) => one.rung)].some(
    (one) => one === "model" || one === "fallback",
  );
  const reports = usage.length === 0 && wasAsked && !isUsed ? [{ usage: {} }] : usage;
  const meta = isUsed ? SUMMARY_REMARK : REFUSED_SUMMARY_REMARK;
  for (const used of reports)
    await log.appendOne<UsageBody>(session, { body: { kind: "usage", ...used, meta } });
}

/** Restores parts stored as blobs, so that the summarizer sees whole messages. */
async function wholeSlots(slots: readonly Slot[], blobs: Blobs): Promise<readonly Slot[]> {
  const messages = await wholeMessages(slots, blobs);
  return slots.map((slot, index) => {
    const message = messages[index] ?? slot.message;
    return message === slot.message ? slot : { ...slot, message, tokens: estimateMessage(message) };
  });
}

/**
 * Loads the window as shown, or without the policies' edits: summaries are made from the log and not from edited
 * windows.
 */
function load({ session, log, lines }: CompactorParts, isAsSaid: boolean): Promise<LoadedWindow> {
  return loadWindow({
    session,
    entries: log.store.entries,
    lines,
    tokensOf: estimateMessage,
    mostTokens: MOST_SOURCE_TOKENS,
    pastTokens: 0,
    isAsSaid,
  });
}

function isPassing({ edits }: HoldingOverlay): boolean {
  return edits.some(({ isLasting }) => !isLasting);
}

function budgetOf({ slots }: Source): number {
  return Math.max(LEAST_SUMMARY, Math.min(LARGEST_SUMMARY, Math.floor(sizeOf(slots) * SUMMARY_SHARE)));
}

function summaryEdit(
  { overlays, places }: LoadedWindow,
  { stretches }: Source,
  { text, parts }: Climbed,
): SingleEdit {
  const lasting = lastingToName(overlays, places);
  const placed = (stretch: { readonly from: number; readonly to: number }) => ({ session: "", ...stretch });
  return {
    type: "summarize",
    isLasting: true,
    isWhole: true,
    ...(lasting.length > 0 && { lasting }),
    ranges: stretches.map(placed),
    messages: [{ role: "user", parts: [{ type: "text", text }] }],
    ...(parts.length > 0 && {
      parts: parts.map((part) => ({ ranges: [placed(part.stretch)], text: part.text })),
    }),
  };
}

function compactedOf(
  { factsOf }: CompactorParts,
  { shown, said }: { readonly shown: readonly Slot[]; readonly said: readonly Slot[] },
  { stretches, previous }: Source,
  { rung, text, failed, usage }: Climbed,
): Compacted {
  const message = { role: "user", parts: [{ type: "text", text }] } as const;
  const isGone = ({ seq }: Slot) => stretches.some(({ from, to }) => from <= seq && seq <= to);
  const start = stretches[0]?.from ?? 0;
  const summary: Slot = { seq: start, at: 0, message, tokens: estimateMessage(message), isNote: true };
  const after = [
    ...said.filter((slot) => !isGone(slot) && slot.seq < start),
    summary,
    ...said.filter((slot) => !isGone(slot) && slot.seq > start),
  ];
  const costs = usage.map(({ model, usage: used }) => {
    const facts = factsOf(model);
    return used.cost ?? (facts && !facts.arePricesAssumed ? costOfUsage(used, facts) : undefined);
  });
  const isKnown = costs.every((cost) => cost !== undefined);
  return {
    rung,
    summary: text,
    failed,
    usage,
    before: shown,
    after,
    tokens: { without: sizeOf(shown), with: sizeOf(after) },
    left: {
      entries: shown.filter((slot) => isGone(slot) && !slot.isNote && slot.seq !== previous?.seq).length,
      ...namesLeft(shown, after),
    },
    ...(isKnown && { cost: costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0) }),
  };
}
