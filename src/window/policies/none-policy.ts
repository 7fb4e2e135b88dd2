import type { Policy } from "../policy.ts";

/** Sends everything, whether it fits or not. */
export function nonePolicy(): Policy {
  return {
    name: "none",
    start(_budget, _tokensOf, course = {}) {
      const slots = [...(course.window ?? [])];
      return { observe: (slot) => void slots.push(slot), fit: () => [...slots] };
    },
  };
}
