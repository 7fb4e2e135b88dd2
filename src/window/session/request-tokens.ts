import type { Slot } from "../slot.ts";
import { sumSlotTokens } from "../sum-slot-tokens.ts";
import type { Meter } from "./meter.ts";
import type { WindowSettings } from "./window-settings.ts";

type FrameTokens = Pick<WindowSettings, "system" | "tools" | "memories">;

/** Estimated tokens of a request: its messages, system prompt, tools and memories. */
export function estimateRequest({ system, tools, memories }: FrameTokens, slots: readonly Slot[]): number {
  return system + tools + memories + sumSlotTokens(slots);
}

/** Tokens of a request with these messages, as the provider is expected to count them. */
export function countRequest(frame: FrameTokens, meter: Meter, slots: readonly Slot[]): number {
  return meter.counted(estimateRequest(frame, slots));
}

/** Counts windows of a session by `countRequest`, for callers that do not fit one. */
export type WindowCounter = (slots: readonly Slot[]) => number;
