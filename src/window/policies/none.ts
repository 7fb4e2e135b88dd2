import type { Policy } from "../policy.ts";
import type { Slot } from "../slot.ts";

/** Everything is sent, whether it fits or not. */
export function none(): Policy {
  return {
    name: "none",
    start() {
      const slots: Slot[] = [];
      return { observe: (slot) => void slots.push(slot), fit: () => [...slots] };
    },
  };
}
