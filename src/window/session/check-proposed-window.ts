import { createArgumentError } from "../../model/errors.ts";
import type { Slot } from "../slot.ts";
import type { LoadedWindow } from "./load-window.ts";

/**
 * Throws ARGUMENT_INVALID if a policy's window cannot be stored as edits of the log: messages that are out of order,
 * repeated or from another conversation, or changed messages without their original.
 */
export function checkProposedWindow(policy: string, slots: readonly Slot[], window: LoadedWindow): void {
  const refuse = (what: string): never => {
    throw createArgumentError(
      "policy",
      policy,
      `a policy that returns slots of the window in their order; ${what}`,
    );
  };
  if (!Array.isArray(slots)) refuse("it returned no array");
  if (slots.length === 0 && window.slots.length > 0) refuse("it returned none");
  // A lasting summary with several messages has several slots at one place.
  const known = Map.groupBy(
    window.slots.filter(({ isNote }) => !isNote),
    ({ seq }) => seq,
  );
  let last = window.line.from - 1;
  let times = 0;
  for (const { seq, isNote, message, original } of slots) {
    if (isNote) continue;
    if (!(seq >= window.line.from && seq <= window.line.to))
      refuse(`it returned ${seq}, which is not on the line`);
    const here = known.get(seq) ?? [];
    times = seq === last ? times + 1 : 1;
    if (seq < last || times > Math.max(1, here.length)) refuse(`it returned ${seq} behind ${last}`);
    const isSame = (slot: Slot) => {
      const said = slot.original ?? slot.message;
      return message === slot.message || message === said || original === said;
    };
    if (here.length > 0 && !here.some(isSame)) refuse(`it returned other words for ${seq}`);
    last = seq;
  }
}
