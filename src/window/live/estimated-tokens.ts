import { sizeOf } from "../size.ts";
import type { Slot } from "../slot.ts";
import type { Settings } from "./settings.ts";

/** Estimated tokens of a request: its messages, system prompt, tools and memories. */
export function estimatedTokens(
  { system, tools, memories }: Pick<Settings, "system" | "tools" | "memories">,
  slots: readonly Slot[],
): number {
  return system + tools + memories + sizeOf(slots);
}
