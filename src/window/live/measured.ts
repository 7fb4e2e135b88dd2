import { estimatedTokens } from "./estimated-tokens.ts";
import type { Fitted } from "./fitted.ts";
import type { LoadedWindow } from "./load-window.ts";
import type { Meter } from "./meter.ts";
import { partsOf } from "./parts.ts";
import type { Settings } from "./settings.ts";

/** The size of a window and its breakdown by kind. */
export function measured(
  { slots, pins, summaries }: LoadedWindow,
  settings: Settings,
  meter: Meter,
): Pick<Fitted, "slots" | "tokens" | "roomTokens" | "parts" | "limits"> {
  const counted = (estimated: number) => meter.counted(estimated);
  const { system, tools, memories, limits } = settings;
  const { reserve: reserved, window } = limits;
  const estimated = estimatedTokens(settings, slots);
  return {
    slots,
    tokens: counted(estimated),
    roomTokens: Math.max(0, meter.estimatedWithin(limits.most) - estimated),
    parts: partsOf(slots, { system, tools, memories, reserved, window, pins, summaries, counted }),
    limits,
  };
}
