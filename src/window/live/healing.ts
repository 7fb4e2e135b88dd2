import type { Log } from "../../log/log.ts";
import type { SessionId } from "../../model/entry.ts";
import { isLonghaulError } from "../../model/errors.ts";
import { outputLeft } from "../limits/output-room.ts";
import type { Overflow } from "../limits/overflow.ts";
import type { Poison } from "../limits/poison.ts";
import { believedOverflow } from "../limits/possible-overflow.ts";
import { nextTry } from "../limits/retry.ts";
import { SAFETY } from "../tokens/estimate-message.ts";
import { appendOverlay } from "./append-overlay.ts";
import { outputError, overflowError } from "./errors.ts";
import type { Fitted } from "./fitted.ts";
import type { Fitting } from "./fitting.ts";
import { storedEdit } from "./place-edit.ts";
import { stubForPoison } from "./poisoned.ts";

export interface HealingParts {
  readonly session: SessionId;
  readonly log: Log;
}

/** Errors that end healing: the window cannot be made small enough. */
const IN_VAIN = ["WINDOW_OVERFLOW", "WINDOW_FLOOR", "WINDOW_STUCK"] as const;

/**
 * Removes the numbers from an overflow error if they cannot refer to the last request; `besides` counts the extra
 * tokens sent with it.
 */
export function believed(fitting: Fitting, overflow: Overflow, besides: number): Overflow {
  const { sentTokens, settings } = fitting;
  if (sentTokens === 0) return overflow;
  return believedOverflow(overflow, {
    estimated: sentTokens + besides,
    maxTokens: fitting.maxCount(besides),
    askedTokens: settings.askedTokens,
  });
}

/**
 * Returns the same window with a lower output limit; undefined if the output was not the cause of the overflow. Throws
 * WINDOW_OVERFLOW if the caller was given a lower limit before and still asked for more.
 */
export async function lowerOutput(
  fitting: Fitting,
  overflow: Overflow,
  besides: number,
): Promise<Fitted | undefined> {
  const { settings, meter, refusals } = fitting;
  const { maxOutput = Number.POSITIVE_INFINITY } = refusals;
  const window = await fitting.follow();
  const sent = (fitting.sentTokens || fitting.estimated(window.slots)) + besides;
  const asked = Math.min(settings.askedTokens ?? Number.POSITIVE_INFINITY, maxOutput);
  const left = outputLeft({
    overflow,
    promptTokens: meter.counted(sent) * SAFETY,
    askedTokens: Number.isFinite(asked) ? asked : undefined,
    window: settings.limits.window,
  });
  if (left === undefined) return undefined;
  if ((overflow.outputTokens ?? 0) > maxOutput) throw outputError(maxOutput, settings.model);
  refusals.outputLowered(window.line.to, Math.min(left, maxOutput));
  return { ...(await fitting.look()), maxOutputTokens: Math.min(left, maxOutput) };
}

/**
 * Fits a smaller window for another try; `besides` counts the extra tokens sent. Throws WINDOW_OVERFLOW when all tries
 * are used up: the cuts made for them are then reverted, and the same window is not tried again until a request
 * succeeds.
 */
export async function fitSmaller(
  fitting: Fitting,
  overflow: Overflow,
  besides: number,
  parts: HealingParts,
): Promise<Fitted> {
  const before = fitting.sentTokens;
  try {
    await makeRoom(fitting, overflow, besides);
    const fitted = await fitting.fit({});
    for (const made of [fitted.plan, fitted.page])
      if (made?.overlay !== undefined) fitting.refusals.madeSmaller(made.overlay);
    if (before > 0 && fitting.sentTokens >= before)
      throw overflowError(
        `The window cannot be made any smaller: ${overflow.message}`,
        fitting.settings.model,
      );
    return fitted;
  } catch (error) {
    if (!IN_VAIN.some((code) => isLonghaulError(error, code))) throw error;
    await takeBack(fitting, before, parts);
    throw isLonghaulError(error, "WINDOW_STUCK")
      ? overflowError(overflow.message, fitting.settings.model, error)
      : error;
  }
}

/** Forces the next fit to a smaller window. Throws WINDOW_OVERFLOW when all tries are used up. */
async function makeRoom(fitting: Fitting, overflow: Overflow, besides: number): Promise<void> {
  const { settings, meter, planning, refusals } = fitting;
  const window = await fitting.follow();
  const { requestedTokens, outputTokens = 0 } = overflow;
  const sent = (fitting.sentTokens || fitting.estimated(window.slots)) + besides;
  if (refusals.isInVain(sent - besides))
    throw overflowError(`Shorter windows were refused as well: ${overflow.message}`, settings.model);
  if (requestedTokens !== undefined && fitting.sentTokens > 0)
    meter.learnCount(sent, requestedTokens - outputTokens);
  const next = nextTry({
    tries: refusals.overflows,
    lastTokens: meter.counted(sent),
    overflow,
    limit: settings.limits.most,
    floorTokens: settings.isClipping ? 0 : meter.counted(planning.floorTokens(window)),
  });
  if (next.type === "give-up") throw overflowError(next.message, settings.model);
  await fitting.forceSummary(window);
  const within = meter.estimatedWithin(next.budgetTokens);
  refusals.overflowed(window.line.to, Math.max(0, within - besides));
  fitting.readAnew();
}

/** Reverts the edits made for tries that were all refused, because they were in vain. */
async function takeBack(fitting: Fitting, sentTokens: number, { session, log }: HealingParts): Promise<void> {
  const { refusals } = fitting;
  for (const overlay of refusals.overlays.toReversed()) {
    const edit = { type: "revert", overlay } as const;
    const reason = "the provider refused the smaller window as well";
    await appendOverlay(log, session, { kind: "overlay", author: "longhaul", reason, edit }, undefined);
  }
  refusals.gaveUp(sentTokens);
  fitting.forget();
}

/**
 * Replaces the block that the provider rejected with a stub; returns false if it cannot be found. Done once per
 * request: after a second rejection, the cause is a guess.
 */
export async function takeOut(
  fitting: Fitting,
  poison: Poison,
  { session, log }: HealingParts,
): Promise<boolean> {
  const { refusals } = fitting;
  if (refusals.isRejected) return false;
  const window = await fitting.follow();
  const stub = stubForPoison(poison, window.slots, session);
  if (!stub) return false;
  refusals.rejected(window.line.to);
  const edit = storedEdit(stub, session, window.places);
  const reason = `the provider rejected it: ${poison.message}`;
  await appendOverlay(log, session, { kind: "overlay", author: "longhaul", reason, edit }, undefined);
  fitting.readAnew();
  return true;
}
