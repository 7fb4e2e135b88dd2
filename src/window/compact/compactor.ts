import type { Blobs } from "../../log/blobs.ts";
import type { Lines } from "../../log/lines.ts";
import type { Log } from "../../log/log.ts";
import { readMaxTokens, type TokenLimit } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { claimOwner, isOwnerAlive, releaseOwner } from "../../model/base/owner.ts";
import type { Entry, OverlayBody, SessionId, UsageBody } from "../../model/entry.ts";
import { LonghaulError, throwIfAborted } from "../../model/errors.ts";
import { textOfMessage } from "../../model/message.ts";
import type { SingleEdit } from "../../model/overlay.ts";
import type { Receipt } from "../../model/receipt.ts";
import { computeReportCost } from "../models/model-catalog.ts";
import type { ActiveOverlay } from "../session/active-overlay-set.ts";
import { appendOverlay } from "../session/append-overlay.ts";
import { findLastingOverlays } from "../session/find-lasting-overlays.ts";
import { findRemovedNames } from "../session/find-removed-names.ts";
import { type LoadedWindow, loadWindow, restoreMessages } from "../session/load-window.ts";
import { toStoredEdit } from "../session/place-edit.ts";
import type { WindowCounter } from "../session/window-settings.ts";
import { type Slot, sumSlotTokens } from "../slot.ts";
import { estimateMessage } from "../tokens/estimate.ts";
import type { ModelFactsLookup } from "../usage/ledger.ts";
import { REFUSED_SUMMARY_META, SUMMARY_META } from "../usage/usage-meta.ts";
import {
  type FailedTry,
  type LadderOptions,
  type LadderResult,
  type Rung,
  runLadder,
} from "./ladder/run-ladder.ts";
import {
  type CompactionSource,
  findCompactionSource,
  type KeepOptions,
  type SparingOptions,
} from "./plan/compaction-source.ts";

/** Dependencies of a compaction. */
export interface CompactorDeps {
  readonly session: SessionId;
  readonly log: Log;
  readonly lines: Lines;
  readonly flush: () => Promise<void>;
  /** Model prices, to compute the cost of summaries. */
  readonly factsOf: ModelFactsLookup;
  /** Creates the counter of the session's windows. */
  readonly createCounter: () => Promise<WindowCounter>;
}

export interface CompactOptions extends KeepOptions, Omit<LadderOptions, "maxTokens" | "now">, TokenLimit {
  /** Maximum tokens of the summary; by default a fifth of its source, at most 4,000. */
  readonly maxTokens?: number;
  /** True to see the summary and its effect without changing anything. */
  readonly dryRun?: boolean;
}

/** The result of a compaction, or of a dry run. */
export interface CompactionResult {
  /** Seq of the overlay; undefined for a dry run. */
  readonly overlay?: number;
  readonly rung: Rung;
  readonly summary: string;
  readonly failed: readonly FailedTry[];
  /** The window before and after; `left` lists the removed entries and names. */
  readonly before: readonly Slot[];
  readonly after: readonly Slot[];
  /** Tokens of the whole request, as the provider of the session's last model is expected to count them. */
  readonly tokens: { readonly without: number; readonly with: number };
  readonly left: Receipt["left"];
  /** Usage of all model calls. */
  readonly usage: LadderResult["usage"];
  /** Total cost in US dollars; undefined if unknown. */
  readonly cost?: number;
}

const MAX_SOURCE_TOKENS = 1_000_000;
const MAX_SUMMARY_TOKENS = 4_000;
const MIN_SUMMARY_TOKENS = 300;
/** Size of a summary compared with its source. */
export const SUMMARY_SHARE = 0.2;
const MAX_TRIES = 3;
const MAX_REASON_CHARACTERS = 200;

/** A summary that is ready to be applied. */
export interface PreparedSummary {
  readonly window: LoadedWindow;
  readonly edit: SingleEdit;
  readonly result: CompactionResult;
}

/**
 * Compacts a session; undefined if there is nothing new since the last summary. Messages appended meanwhile stay after
 * the summary.
 */
export async function compactSession(
  parts: CompactorDeps,
  options: CompactOptions & SparingOptions = {},
): Promise<CompactionResult | undefined> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const prepared = await prepareSummary(parts, options);
    if (!prepared || options.dryRun) return prepared?.result;
    const overlay = await applySummary(parts, prepared);
    if (overlay !== undefined) return { ...prepared.result, overlay };
  }
  return undefined;
}

/** Makes a summary without applying it. Throws COMPACTION_BUSY if another process is compacting the session. */
export async function prepareSummary(
  parts: CompactorDeps,
  options: CompactOptions & SparingOptions = {},
): Promise<PreparedSummary | undefined> {
  await parts.flush();
  return withLease(parts.log, parts.session, options.signal, async (signal) => {
    const startedMs = performance.now();
    const prepared = await makeSummary(parts, { ...options, signal });
    throwIfAborted(signal);
    if (prepared && !options.dryRun) parts.log.meter.addCompaction(performance.now() - startedMs);
    return prepared;
  });
}

/**
 * Applies a summary in one step and returns the seq of the overlay. Undefined, with nothing changed, if the line was
 * changed, pinned, edited by hand or summarized by others since the summary was made, because it may no longer match.
 */
export async function applySummary(
  { log, session }: CompactorDeps,
  { window, edit, result: compacted }: PreparedSummary,
): Promise<number | undefined> {
  const { tokens, rung, cost, failed } = compacted;
  const body: OverlayBody = {
    kind: "overlay",
    author: "longhaul",
    reason: [
      `summary by ${rung}`,
      ...(cost ? [`$${cost.toFixed(4)}`] : []),
      ...(failed[0] ? [`${failed[0].rung} failed: ${toOneLine(failed[0].reason)}`] : []),
    ].join(", "),
    tokensBefore: tokens.without,
    tokensAfter: tokens.with,
    summary: { by: rung, ...dropUndefined({ cost }), left: compacted.left },
    edit: toStoredEdit(edit, session, window.places),
  };
  return (await appendOverlay(log, session, body, window.head, (entry) => !isTransientPlan(entry)))?.seq;
}

function toOneLine(reason: string): string {
  return reason.replaceAll(/\s+/g, " ").slice(0, MAX_REASON_CHARACTERS).toWellFormed();
}

/** Plans of policies do not affect a summary, which is made from the log; pins, lines and all other overlays do. */
function isTransientPlan(entry: Entry): boolean {
  return (
    entry.kind === "overlay" &&
    entry.edit.type === "plan" &&
    !entry.edit.edits.some(({ isLasting }) => isLasting)
  );
}

async function makeSummary(
  parts: CompactorDeps,
  options: CompactOptions & SparingOptions,
): Promise<PreparedSummary | undefined> {
  const window = await loadSource(parts, true);
  const found = findCompactionSource(window.slots, window, options);
  if (!found) return undefined;
  const source = { ...found, slots: await restoreSlots(found.slots, parts.log.blobs) };
  const climbed = await runLadder(
    { slots: source.slots, ...(source.previous && { previous: textOfMessage(source.previous.message) }) },
    {
      ...options,
      maxTokens: readMaxTokens(options) ?? computeSummaryTokens(source),
      now: () => parts.log.clock.now(),
    },
  );
  // A summary that a person asks for ends the hold on content that came back by an undo.
  const held = options.spares ? window.held : [];
  const edit = { ...buildSummaryEdit(window, source, climbed), ...(held.length > 0 && { held }) };
  const shown = window.overlays.some(hasTransientEdit)
    ? (await loadSource(parts, false)).slots
    : window.slots;
  const count = await parts.createCounter();
  const compacted = buildResult(parts, { shown, said: window.slots, count }, source, climbed);
  const isSmaller = sumSlotTokens(compacted.after) < sumSlotTokens(shown);
  if (!options.dryRun) await logUsage(parts, climbed, isSmaller);
  return isSmaller ? { window, edit, result: compacted } : undefined;
}

/** Logs the usage of models, whether or not their summary is applied; a rejected summary always leaves a trace. */
async function logUsage(
  { log, session }: CompactorDeps,
  climbed: LadderResult,
  isUsed: boolean,
): Promise<void> {
  const { usage, rung, failed } = climbed;
  const wasAsked = [rung, ...failed.map((one) => one.rung)].some(
    (one) => one === "model" || one === "fallback",
  );
  const reports = usage.length === 0 && wasAsked && !isUsed ? [{ usage: {} }] : usage;
  const meta = isUsed ? SUMMARY_META : REFUSED_SUMMARY_META;
  for (const used of reports)
    await log.appendOne<UsageBody>(session, { body: { kind: "usage", ...used, meta } });
}

/** Restores parts stored as blobs, so that the summarizer sees whole messages. */
async function restoreSlots(slots: readonly Slot[], blobs: Blobs): Promise<readonly Slot[]> {
  const messages = await restoreMessages(slots, blobs);
  return slots.map((slot, index) => {
    const message = messages[index] ?? slot.message;
    return message === slot.message ? slot : { ...slot, message, tokens: estimateMessage(message) };
  });
}

/**
 * Loads the window as shown, or without the policies' edits: summaries are made from the log and not from edited
 * windows.
 */
function loadSource({ session, log, lines }: CompactorDeps, isAsSaid: boolean): Promise<LoadedWindow> {
  return loadWindow({
    session,
    entries: log.store.entries,
    lines,
    tokensOf: estimateMessage,
    maxTokens: MAX_SOURCE_TOKENS,
    pastTokens: 0,
    isLastingOnly: isAsSaid,
  });
}

function hasTransientEdit({ edits }: ActiveOverlay): boolean {
  return edits.some(({ isLasting }) => !isLasting);
}

function computeSummaryTokens({ slots }: CompactionSource): number {
  return Math.max(
    MIN_SUMMARY_TOKENS,
    Math.min(MAX_SUMMARY_TOKENS, Math.floor(sumSlotTokens(slots) * SUMMARY_SHARE)),
  );
}

function buildSummaryEdit(
  { overlays, places }: LoadedWindow,
  { stretches }: CompactionSource,
  { text, parts }: LadderResult,
): SingleEdit {
  const lasting = findLastingOverlays(overlays, places);
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

function buildResult(
  { factsOf }: CompactorDeps,
  {
    shown,
    said,
    count,
  }: { readonly shown: readonly Slot[]; readonly said: readonly Slot[]; readonly count: WindowCounter },
  { stretches, previous }: CompactionSource,
  { rung, text, failed, usage }: LadderResult,
): CompactionResult {
  const message = { role: "user", parts: [{ type: "text", text }] } as const;
  const isGone = ({ seq }: Slot) => stretches.some(({ from, to }) => from <= seq && seq <= to);
  const start = stretches[0]?.from ?? 0;
  const summary: Slot = { seq: start, at: 0, message, tokens: estimateMessage(message), isNote: true };
  const after = [
    ...said.filter((slot) => !isGone(slot) && slot.seq < start),
    summary,
    ...said.filter((slot) => !isGone(slot) && slot.seq > start),
  ];
  const costs = usage.map((report) => computeReportCost(report, factsOf));
  const isKnown = costs.every((cost) => cost !== undefined);
  return {
    rung,
    summary: text,
    failed,
    usage,
    before: shown,
    after,
    tokens: { without: count(shown), with: count(after) },
    left: {
      entries: shown.filter((slot) => isGone(slot) && !slot.isNote && slot.seq !== previous?.seq).length,
      ...findRemovedNames(shown, after),
    },
    ...(isKnown && { cost: costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0) }),
  };
}

const LEASE_MS = 30_000;
const RENEW_MS = 10_000;

/**
 * Runs work that only one process at a time may do for a session. Throws COMPACTION_BUSY if another process holds the
 * lease; takes over the lease of a process that died on this machine. The work's signal fires if the lease is lost, for
 * example after the machine was suspended.
 */
async function withLease<T>(
  log: Log,
  session: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const name = `compact ${session}`;
  const owner = claimOwner();
  try {
    await claimLease(log, session, name, owner);
    return await runWhileClaimed(log, name, owner, signal, work);
  } finally {
    releaseOwner(owner);
  }
}

async function claimLease(log: Log, session: string, name: string, owner: string): Promise<void> {
  let holder = await tryClaim(log, name, owner);
  if (holder && !isOwnerAlive(holder.owner, holder.expiresAt - LEASE_MS, log.clock.now())) {
    await log.store.leases.release(name, holder.owner);
    holder = await tryClaim(log, name, owner);
  }
  if (!holder) return;
  throw new LonghaulError(
    "COMPACTION_BUSY",
    `Session ${JSON.stringify(session)} is being compacted already, by ${holder.owner}.`,
    { details: { session, owner: holder.owner } },
  );
}

async function runWhileClaimed<T>(
  log: Log,
  name: string,
  owner: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const timer = setInterval(() => {
    tryClaim(log, name, owner).then(
      (other) => other && lost.abort(new Error("The lease was lost.")),
      (error) => lost.abort(error),
    );
  }, RENEW_MS);
  timer.unref();
  try {
    return await work(signal ? AbortSignal.any([signal, lost.signal]) : lost.signal);
  } finally {
    clearInterval(timer);
    await log.store.leases.release(name, owner);
  }
}

function tryClaim({ store, clock }: Log, name: string, owner: string) {
  return store.leases.claim({ name, owner, expiresAt: clock.now() + LEASE_MS }, clock.now());
}
