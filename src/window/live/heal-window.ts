import type { Log } from "../../log/log.ts";
import type { SessionId } from "../../model/entry.ts";
import { isLonghaulError } from "../../model/errors.ts";
import { chooseNextTry } from "../limits/choose-next-try.ts";
import { computeOutputLeft } from "../limits/compute-output-left.ts";
import type { Overflow } from "../limits/overflow.ts";
import type { Poison } from "../limits/poison.ts";
import { removeImpossibleCounts } from "../limits/possible-overflow.ts";
import { SAFETY } from "../tokens/estimate-message.ts";
import { appendOverlay } from "./append-overlay.ts";
import type { FittedWindow } from "./fitted-window.ts";
import { toStoredEdit } from "./place-edit.ts";
import { buildPoisonStub } from "./poison-stub.ts";
import { createOutputError, createOverflowError } from "./window-errors.ts";
import type { WindowFitter } from "./window-fitter.ts";

interface HealingDeps {
  readonly session: SessionId;
  readonly log: Log;
}

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
 * Fits a smaller window for another try; `extraTokens` counts the extra tokens sent. Throws WINDOW_OVERFLOW when all tries
 * are used up: the cuts made for them are then reverted, and the same window is not tried again until a request
 * succeeds.
 */
export async function fitSmaller(
  fitting: WindowFitter,
  overflow: Overflow,
  extraTokens: number,
  parts: HealingDeps,
): Promise<FittedWindow> {
  const before = fitting.sentTokens;
  try {
    await forceSmallerFit(fitting, overflow, extraTokens);
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
): Promise<void> {
  const { settings, meter, planner: planning, refusals } = fitting;
  const window = await fitting.follow();
  const { requestedTokens, outputTokens = 0 } = overflow;
  const sent = (fitting.sentTokens || fitting.estimate(window.slots)) + extraTokens;
  if (refusals.hasGivenUpOn(sent - extraTokens))
    throw createOverflowError(`Shorter windows were refused as well: ${overflow.message}`, settings.model);
  if (requestedTokens !== undefined && fitting.sentTokens > 0)
    meter.learnCount(sent, requestedTokens - outputTokens);
  const next = chooseNextTry({
    tries: refusals.overflows,
    lastTokens: meter.counted(sent),
    overflow,
    limit: settings.limits.most,
    floorTokens: settings.isClipping ? 0 : meter.counted(planning.estimateFloor(window)),
  });
  if (next.type === "give-up") throw createOverflowError(next.message, settings.model);
  await fitting.forceSummary(window);
  const within = meter.estimatedWithin(next.budgetTokens);
  refusals.recordOverflow(window.line.to, Math.max(0, within - extraTokens));
  fitting.reload();
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
  refusals.recordGiveUp(sentTokens);
  fitting.forget();
}

/**
 * Replaces the block that the provider rejected with a stub; returns false if it cannot be found. Done once per
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
  if (!stub) return false;
  refusals.recordRejection(window.line.to);
  const edit = toStoredEdit(stub, session, window.places);
  const reason = `the provider rejected it: ${poison.message}`;
  await appendOverlay(log, session, { kind: "overlay", author: "longhaul", reason, edit }, undefined);
  fitting.reload();
  return true;
}
