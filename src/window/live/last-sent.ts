import type { Slot } from "../slot.ts";
import type { LoadedWindow } from "./load-window.ts";
import type { Meter } from "./meter.ts";

/** What the last request was sent, of a session that was opened again: all that stood before the reply to it. */
export function lastSent({ slots }: LoadedWindow, { last }: Meter): readonly Slot[] {
  if (!last) return [];
  const reply = slots.findLastIndex(({ at, message }) => at <= last.at && message.role === "assistant");
  return slots.slice(0, Math.max(0, reply));
}
