import type { Slot } from "../slot.ts";
import type { LoadedWindow } from "./load-window.ts";
import type { Meter } from "./meter.ts";

/** The last request of a session that was reopened: all slots before the reply to it. */
export function findLastSent({ slots }: LoadedWindow, { last }: Meter): readonly Slot[] {
  if (!last) return [];
  const reply = slots.findLastIndex(({ at, message }) => at <= last.at && message.role === "assistant");
  return slots.slice(0, Math.max(0, reply));
}
