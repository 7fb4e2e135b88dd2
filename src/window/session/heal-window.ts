import { toEntry } from "../../log/entry-body.ts";
import type { Log } from "../../log/log.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Entry, EntryKind, OverlayBody, SessionId } from "../../model/entry.ts";
import { isLonghaulError } from "../../model/errors.ts";
import type { Edit, SingleEdit } from "../../model/overlay.ts";
import { listAnsweredCallIds, listCallIds } from "../../model/tool-calls.ts";
import { isSystem } from "../is-system.ts";
import { chooseNextTry, MAX_TRIES } from "../limits/choose-next-try.ts";
import type { Overflow } from "../limits/overflow.ts";
import type { Poison } from "../limits/poison.ts";
import type { PoisonKind } from "../limits/poison-forms.ts";
import { hasReasoning, isReasoning } from "../models/thinking-rule.ts";
import { findNewestQuestion } from "../protected-seqs.ts";
import type { Slot } from "../slot.ts";
import { SAFETY } from "../tokens/estimate-text.ts";
import { MIN_RATIO } from "../tokens/gauge.ts";
import { getWindowIndex } from "../window-index.ts";
import { appendOverlay } from "./append-overlay.ts";
import { readMarks } from "./find-active-overlays.ts";
import { findLastingOverlays } from "./find-lasting-overlays.ts";
import type { FittedWindow } from "./fitted-window.ts";
import { READ_WINDOWS } from "./follower.ts";
import { type LoadedWindow, loadWindow } from "./load-window.ts";
import { toStoredEdit } from "./place-edit.ts";
import { buildPoisonStub, isUnpaired } from "./poison-stub.ts";
import { REFUSED_REASON } from "./refusals.ts";
import { createOutputError, createOverflowError } from "./window-errors.ts";
import type { WindowFitter } from "./window-fitter.ts";
import type { WindowFitterDeps } from "./window-fitter-deps.ts";

/** A reply with less room than this is useless: the conversation has to shrink instead. */
const MIN_OUTPUT_TOKENS = 1_024;

/** No model has a smaller window, so a smaller number means something else. */
const MIN_WINDOW_TOKENS = 512;

type HealingDeps = Pick<WindowFitterDeps, "session" | "log" | "lines">;

/** Share of a refused size that later windows of the turn may take. */
const CAP_SHARE = 0.95;
/** Heals of an abandoned line among so many of the latest entries count like those of the running turn. */
const LATEST_ENTRIES = 30;
const CHANGES: readonly EntryKind[] = ["line", "overlay"];

/** Errors that end healing: the window cannot be made small enough. */
const GIVE_UP_CODES = ["WINDOW_OVERFLOW", "WINDOW_FLOOR", "WINDOW_STUCK"] as const;

/**
 * Removes the numbers from an overflow error if they cannot refer to the last request; `extraTokens` counts the extra
 * tokens sent with it.
 */
export function checkOverflowCounts(
  fitting: WindowFitter,
  overflow: Overflow,
  extraTokens: number,
): Overflow {
  const { sentTokens, settings } = fitting;
  if (sentTokens === 0) return overflow;
  return removeImpossibleCounts(overflow, {
    estimated: sentTokens + extraTokens,
    maxTokens: fitting.estimateMaxCount(extraTokens),
    requestedOutputTokens: settings.requestedOutputTokens,
  });
}

/**
 * Returns the same window with a lower output limit; undefined if the output was not the cause of the overflow. Throws
 * WINDOW_OVERFLOW if the caller was given a lower limit before and still asked for more.
 */
export async function lowerOutput(
  fitting: WindowFitter,
  overflow: Overflow,
  extraTokens: number,
): Promise<FittedWindow | undefined> {
  const { settings, meter, refusals } = fitting;
  const { maxOutput = Number.POSITIVE_INFINITY } = refusals;
  const window = await fitting.follow();
  const sent = (fitting.sentTokens || fitting.estimate(window.slots)) + extraTokens;
  const asked = Math.min(settings.requestedOutputTokens ?? Number.POSITIVE_INFINITY, maxOutput);
  const left = computeOutputLeft({
    overflow,
    promptTokens: meter.counted(sent) * SAFETY,
    requestedOutputTokens: Number.isFinite(asked) ? asked : undefined,
    window: settings.limits.window,
  });
  if (left === undefined) return undefined;
  if ((overflow.outputTokens ?? 0) > maxOutput) throw createOutputError(maxOutput, settings.model);
  refusals.recordLoweredOutput(window.line.to, Math.min(left, maxOutput));
  return { ...(await fitting.look()), maxOutputTokens: Math.min(left, maxOutput) };
}

/**
 * Fits a smaller window for another try; `extraTokens` counts the extra tokens sent. Throws WINDOW_OVERFLOW when the tries
 * of the running turn are used up: the cuts made for this request are then reverted, and the same window is not tried
 * again until a request succeeds.
 */
export async function fitSmaller(
  fitting: WindowFitter,
  overflow: Overflow,
  extraTokens: number,
  parts: HealingDeps,
): Promise<FittedWindow> {
  const before = fitting.sentTokens;
  try {
    await forceSmallerFit(fitting, overflow, extraTokens, parts);
    const fitted = await fitting.fit({});
    for (const made of [fitted.plan, fitted.page])
      if (made?.overlay !== undefined) fitting.refusals.recordOverlay(made.overlay);
    if (before > 0 && fitting.sentTokens >= before)
      throw createOverflowError(
        `The window cannot be made any smaller: ${overflow.message}`,
        fitting.settings.model,
      );
    return fitted;
  } catch (error) {
    if (!GIVE_UP_CODES.some((code) => isLonghaulError(error, code))) throw error;
    await revertSmallerFits(fitting, before, parts);
    throw isLonghaulError(error, "WINDOW_STUCK")
      ? createOverflowError(overflow.message, fitting.settings.model, error)
      : error;
  }
}

/** Forces the next fit to a smaller window. Throws WINDOW_OVERFLOW when all tries are used up. */
async function forceSmallerFit(
  fitting: WindowFitter,
  overflow: Overflow,
  extraTokens: number,
  parts: HealingDeps,
): Promise<void> {
  const { settings, meter, planner: planning, refusals } = fitting;
  const window = await fitting.follow();
  const { requestedTokens, outputTokens = 0 } = overflow;
  const sent = (fitting.sentTokens || fitting.estimate(window.slots)) + extraTokens;
  if (refusals.hasGivenUpOn(sent - extraTokens))
    throw createOverflowError(`Shorter windows were refused as well: ${overflow.message}`, settings.model);
  if (requestedTokens !== undefined && fitting.sentTokens > 0)
    meter.learnRefused(sent, requestedTokens - outputTokens);
  const heals = await readHeals(parts.log, window);
  const next = chooseNextTry({
    tries: Math.max(refusals.overflows, heals.length),
    lastTokens: meter.counted(sent),
    overflow,
    limit: settings.limits.most,
    reserveTokens: settings.limits.reserve,
    floorTokens: settings.isClipping ? 0 : meter.counted(planning.estimateFloor(window)),
  });
  if (next.type === "give-up") throw createOverflowError(next.message, settings.model);
  await fitting.forceSummary(window);
  const within = meter.estimatedAt(next.maxTokens);
  const forcedTokens = Math.max(0, Math.min(within, sent - 1) - extraTokens);
  refusals.recordOverflow(window.line.to, forcedTokens, overflow.limitTokens);
  const question = window.slots[findNewestQuestion(window.slots)]?.seq ?? 0;
  if (overflow.limitTokens === undefined) refusals.recordTurnCap(question, (sent - extraTokens) * CAP_SHARE);
  fitting.reload();
}

/**
 * The edits that refusals have caused since the newest message of a person, or shortly before on a line that the caller
 * has left since, whichever handle or process made them.
 */
async function readHeals(log: Log, { slots, places, line }: LoadedWindow): Promise<readonly OverlayBody[]> {
  const question = slots[findNewestQuestion(slots)]?.seq ?? line.from;
  const { entries } = log.store;
  const heals = new Map<string, OverlayBody>();
  const add = (entry: Entry) => {
    if (entry.kind === "overlay" && entry.reason.startsWith(REFUSED_REASON)) heals.set(entry.id, entry);
  };
  for await (const entry of readMarks(entries, places.toRanges({ from: question, to: line.to }), "overlay"))
    add(entry);
  // An agent that summarizes or begins again by itself continues in another line or in a fork, but the turn is the
  // same.
  const sessions = places.toRanges(line).map((range) => range.session);
  for (const session of new Set(sessions)) {
    const { seq: to } = await entries.head(session);
    const range = { from: Math.max(1, to - LATEST_ENTRIES), to, limit: LATEST_ENTRIES } as const;
    let isEarlier = session !== sessions.at(-1);
    for (const stored of await entries.read(session, { ...range, order: "descending", kinds: CHANGES })) {
      if (stored.kind === "line") isEarlier = true;
      else if (isEarlier) add(toEntry(session, stored));
    }
  }
  return [...heals.values()];
}

/** Reverts the edits made for tries that were all refused, because they were in vain. */
async function revertSmallerFits(
  fitting: WindowFitter,
  sentTokens: number,
  { session, log }: HealingDeps,
): Promise<void> {
  const { refusals } = fitting;
  for (const overlay of refusals.overlays.toReversed()) {
    const edit = { type: "revert", overlay } as const;
    const reason = "the provider refused the smaller window as well";
    await appendOverlay(log, session, { kind: "overlay", author: "longhaul", reason, edit }, undefined);
  }
  // Without a try, only the turn had none left, or the limit is out of reach.
  if (refusals.overflows > 0) refusals.recordGiveUp(sentTokens);
  fitting.forget();
}

/**
 * Replaces the block that the provider rejected with a stub, or restores reasoning that it misses; returns false if it cannot be found. Done once per
 * request: after a second rejection, the cause is a guess.
 */
export async function removePoison(
  fitting: WindowFitter,
  poison: Poison,
  { session, log }: HealingDeps,
): Promise<boolean> {
  const { refusals } = fitting;
  if (refusals.isRejected) return false;
  const window = await fitting.follow();
  const stub = buildPoisonStub(poison, window.slots, session);
  const edits = poison.kind === "missing-reasoning" ? restoreReasoning(window.slots) : stub ? [stub] : [];
  if (edits.length === 0) return false;
  refusals.recordRejection(window.line.to);
  const reason = `the provider rejected it: ${poison.message}`;
  for (const one of edits) {
    const edit = toStoredEdit(one, session, window.places);
    await appendOverlay(log, session, { kind: "overlay", author: "longhaul", reason, edit }, undefined);
  }
  fitting.reload();
  return true;
}

/** Gives replies the reasoning back that an edit has taken from them. */
function restoreReasoning(slots: readonly Slot[]): readonly SingleEdit[] {
  return slots.flatMap(({ seq, isNote, message, logged, original = logged }): readonly SingleEdit[] => {
    if (isNote || !original || hasReasoning(message) || !hasReasoning(original)) return [];
    const parts = [...original.parts.filter(isReasoning), ...message.parts];
    return [{ type: "replace", target: { seq }, parts, isLasting: true }];
  });
}

const DEFECT_REASON = `${REFUSED_REASON}, by a defect of longhaul's edit`;

/** Kinds of rejections other than of pairs that an edit can cause. */
const MENDABLE: ReadonlySet<PoisonKind> = new Set(["reasoning", "thinking", "empty"]);

/**
 * Answers a rejection of pairs or blocks that an edit of ours caused: with the unedited conversation, if it fits and was
 * not tried in this turn, or else without the whole group. Undefined if the edit was not the cause or nothing is left
 * to try.
 */
export async function mendDefect(
  fitting: WindowFitter,
  poison: Poison,
  parts: HealingDeps,
): Promise<FittedWindow | undefined> {
  if (!isUnpaired(poison.kind) && !MENDABLE.has(poison.kind)) return undefined;
  const { settings, meter } = fitting;
  const { session, log } = parts;
  fitting.reload();
  const window = await fitting.follow();
  const { limits, tokensOf } = settings;
  const source = { session, entries: log.store.entries, lines: parts.lines, tokensOf };
  const whole = await loadWindow({
    ...source,
    maxTokens: limits.most * READ_WINDOWS,
    pastTokens: 0,
    isLastingOnly: true,
  });
  if (!isCausedByEdit(poison, window.slots, whole.slots)) return undefined;
  const heals = await readHeals(log, window);
  if (heals.length >= MAX_TRIES) return undefined;
  const counted = meter.counted(fitting.estimate(whole.slots));
  const isFitting =
    whole.unread === undefined &&
    counted <= limits.most &&
    whole.slots.length <= (limits.messages ?? Number.POSITIVE_INFINITY);
  const isTried = heals.some(({ reason }) => reason.startsWith(DEFECT_REASON));
  const isWhole = isFitting && !isTried;
  const edit = isWhole ? buildUneditedPlan(whole) : hideGroup(poison, window, whole, session);
  if (!edit) return undefined;
  const reason = `${DEFECT_REASON}: ${poison.message}`;
  await appendOverlay(log, session, { kind: "overlay", author: "longhaul", reason, edit }, undefined);
  fitting.forget();
  return { ...(await (isWhole ? fitting.look(false) : fitting.fit({}))), defect: poison.message };
}

/** A plan without edits, which takes the place of all plans before it. */
function buildUneditedPlan({ overlays, places }: LoadedWindow): Edit {
  const lasting = findLastingOverlays(overlays, places);
  return { type: "plan", isWhole: true, ...(lasting.length > 0 && { lasting }), edits: [] };
}

/**
 * True if the rejected content is right in the unedited conversation: it has both halves of every pair that was named, or
 * the rejected message is one that an edit has written.
 */
function isCausedByEdit(
  { kind, callIds, path }: Poison,
  sent: readonly Slot[],
  whole: readonly Slot[],
): boolean {
  const isEdited = sent.some(({ isNote, original }) => isNote || original) || sent.length !== whole.length;
  if (!isEdited) return false;
  if (isUnpaired(kind)) {
    const called = new Set(whole.flatMap(({ message }) => listCallIds(message)));
    const answered = new Set(whole.flatMap(({ message }) => listAnsweredCallIds(message)));
    if (callIds) return callIds.every((callId) => called.has(callId) && answered.has(callId));
    return [...answered].every((callId) => called.has(callId));
  }
  const slot = path && sent[path.message];
  return slot !== undefined && (slot.isNote === true || slot.original !== undefined);
}

/** Hides the group of the rejected block for good; undefined if it is unknown or may not leave. */
function hideGroup(
  { callIds = [], path }: Poison,
  window: LoadedWindow,
  whole: LoadedWindow,
  session: SessionId,
): Edit | undefined {
  const { slots } = whole;
  const named = slots.findLastIndex(({ message }) =>
    [...listCallIds(message), ...listAnsweredCallIds(message)].some((callId) => callIds.includes(callId)),
  );
  const seq = path && window.slots[path.message]?.seq;
  const index = named >= 0 ? named : slots.findIndex((slot) => slot.seq === seq);
  const group = getWindowIndex(slots).groups.find(({ from, to }) => from <= index && index <= to);
  if (!group) return undefined;
  const leaving = slots.slice(group.from, group.to + 1).map((slot) => slot.seq);
  const kept = new Set([...whole.pins, ...whole.summaries]);
  for (const slot of slots) if (isSystem(slot)) kept.add(slot.seq);
  const question = slots[findNewestQuestion(slots)];
  if (question) kept.add(question.seq);
  if (leaving.some((place) => kept.has(place))) return undefined;
  const ranges = leaving.map((place) => ({ session, from: place, to: place }));
  return toStoredEdit({ type: "hide", ranges, isLasting: true }, session, whole.places);
}

/** A request that was refused because prompt and output together exceed the window. */
interface RefusedRequest {
  readonly overflow: Overflow;
  /** Our own count of the prompt, on the safe side. */
  readonly promptTokens: number;
  /** Output tokens that the request asked for; undefined if the caller did not say. */
  readonly requestedOutputTokens: number | undefined;
  /** The model's window as known before the refusal, in tokens. */
  readonly window: number;
}

/**
 * The output tokens that a refused request may ask for so that its unchanged prompt fits; undefined if the prompt
 * itself is too long or leaves no room for a reply.
 */
export function computeOutputLeft({
  overflow,
  promptTokens,
  requestedOutputTokens: askedTokens,
  window,
}: RefusedRequest): number | undefined {
  const { limitTokens = window, requestedTokens, outputTokens } = overflow;
  const output = outputTokens ?? askedTokens;
  if (output === undefined) return undefined;
  const prompt = requestedTokens === undefined ? promptTokens : requestedTokens - (outputTokens ?? 0);
  const left = Math.floor(limitTokens - prompt);
  return left < output && left >= MIN_OUTPUT_TOKENS ? left : undefined;
}

/** Facts about a request that the provider reported as too long. */
interface SentRequest {
  /** Estimated tokens of the prompt. */
  readonly estimated: number;
  /** The most tokens that the provider can count for the prompt. */
  readonly maxTokens: number;
  /** Output tokens that the request asked for; undefined if the caller did not say. */
  readonly requestedOutputTokens: number | undefined;
}

/** False if the numbers of an overflow error cannot refer to this request. */
function isPossibleOverflow(overflow: Overflow, sent: SentRequest): boolean {
  const { limitTokens, requestedTokens, outputTokens } = overflow;
  if (limitTokens !== undefined && limitTokens < MIN_WINDOW_TOKENS) return false;
  if (requestedTokens !== undefined) {
    const prompt = requestedTokens - (outputTokens ?? 0);
    return prompt >= sent.estimated * MIN_RATIO && prompt <= sent.maxTokens;
  }
  const output = outputTokens ?? sent.requestedOutputTokens ?? 0;
  return limitTokens === undefined || sent.maxTokens + output > limitTokens;
}

/** Removes the numbers from an overflow error if they cannot refer to this request. */
export function removeImpossibleCounts(overflow: Overflow, sent: SentRequest): Overflow {
  if (isPossibleOverflow(overflow, sent)) return overflow;
  const { provider, message } = overflow;
  return { ...dropUndefined({ provider }), message };
}
