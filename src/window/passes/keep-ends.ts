import { oldestLeaving, proposeHiding } from "../hide-slots.ts";
import type { Pass } from "../pass.ts";
import { protectedSeqs } from "../protected.ts";
import { windowIndex } from "../window-index.ts";

/** Hides all but the first message of the user and so many of the latest messages, in whole groups. */
export function keepEnds(latest: number): Pass {
  return (slots, context) => {
    const kept = protectedSeqs(slots, context.pins);
    const start = slots.length - latest;
    const old = windowIndex(slots).groups.filter(({ to }) => to < start);
    const units = oldestLeaving(slots, old, kept, () => false);
    const leaving = units.filter((unit) => unit.every((index) => index < start));
    return proposeHiding(slots, leaving.flat(), `all but the last ${latest} messages`, context);
  };
}
