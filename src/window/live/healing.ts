import type { Log } from "../../log/log.ts";
import type { SessionId } from "../../model/entry.ts";
import type { Overflow } from "../limits/overflow.ts";
import type { Poison } from "../limits/poison.ts";
import { nextTry } from "../limits/retry.ts";
import { appendOverlay } from "./append-overlay.ts";
import { overflowError } from "./errors.ts";
import type { Fitting } from "./fitting.ts";
import { storedEdit } from "./place-edit.ts";
import { stubForPoison } from "./poisoned.ts";

/** What a window needs to be readied for another try. */
export interface HealingParts {
  readonly session: SessionId;
  readonly log: Log;
}

/** Forces the next fit to a smaller window; `besides` is what else was sent. WINDOW_OVERFLOW when all has been tried. */
export async function makeRoom(fitting: Fitting, overflow: Overflow, besides: number): Promise<void> {
  const { settings, meter, planning, refusals } = fitting;
  const window = await fitting.follow();
  const { requestedTokens, outputTokens = 0 } = overflow;
  const sent = (fitting.sentTokens || fitting.estimated(window.slots)) + besides;
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

/**
 * Puts a stub in place of the block that the provider rejected; false if it cannot be found. Once for each request: a
 * second rejection is not for us to guess at.
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
