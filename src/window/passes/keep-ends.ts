import { findOldestRemovable, proposeHiding } from "../hide-slots.ts";
import type { Pass } from "../pass.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import { getWindowIndex } from "../window-index.ts";

/** Hides all groups between the first user message and the `latest` messages. */
export function keepEnds(latest: number): Pass {
  return (slots, context) => {
    const kept = findProtectedSeqs(slots, context.pins);
    const start = slots.length - latest;
    const old = getWindowIndex(slots).groups.filter(({ to }) => to < start);
    const units = findOldestRemovable(slots, old, kept, () => false);
    const leaving = units.filter((unit) => unit.every((index) => index < start));
    return proposeHiding(slots, leaving.flat(), `all but the last ${latest} messages`, context);
  };
}
