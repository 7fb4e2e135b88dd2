import type { Slot } from "../slot.ts";
import { estimateRequest } from "./estimate-request.ts";
import type { Meter } from "./meter.ts";
import type { WindowSettings } from "./window-settings.ts";

/** Tokens of a request with these messages, as the provider is expected to count them. */
export function countRequest(
  settings: Pick<WindowSettings, "system" | "tools" | "memories">,
  meter: Meter,
  slots: readonly Slot[],
): number {
  return meter.counted(estimateRequest(settings, slots));
}

/** Counts windows of a session by `countRequest`, for callers that do not fit one. */
export type WindowCounter = (slots: readonly Slot[]) => number;
