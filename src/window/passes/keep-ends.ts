import { oldestLeaving, proposeHiding } from "../hide-slots.ts";
import type { Pass } from "../pass.ts";
import { protectedSeqs } from "../protected.ts";
import { windowIndex } from "../window-index.ts";

/** Hides all groups between the first user message and the `latest` messages. */
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
