import type { Slot } from "../slot.ts";
import { sumSlotTokens } from "../sum-slot-tokens.ts";
import type { WindowSettings } from "./window-settings.ts";

/** Estimated tokens of a request: its messages, system prompt, tools and memories. */
export function estimateRequest(
  { system, tools, memories }: Pick<WindowSettings, "system" | "tools" | "memories">,
  slots: readonly Slot[],
): number {
  return system + tools + memories + sumSlotTokens(slots);
}
