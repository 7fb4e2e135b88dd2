import { isShrunk } from "../shrink/result-shrinker.ts";
import { countRequest } from "./count-request.ts";
import { estimateRequest } from "./estimate-request.ts";
import type { FittedWindow } from "./fitted-window.ts";
import type { LoadedWindow } from "./load-window.ts";
import type { Meter } from "./meter.ts";
import { computeBreakdown } from "./window-breakdown.ts";
import type { WindowSettings } from "./window-settings.ts";

/** The size of a window and its breakdown by kind. */
export function measureWindow(
  { slots, lineTokens, pins, summaries }: LoadedWindow,
  settings: WindowSettings,
  meter: Meter,
): Pick<
  FittedWindow,
  "slots" | "isRewritten" | "tokens" | "uneditedTokens" | "roomTokens" | "parts" | "limits"
> {
  const counted = (estimated: number) => meter.counted(estimated);
  const { system, tools, memories, limits } = settings;
  const { reserve: reserved, window } = limits;
  const estimated = estimateRequest(settings, slots);
  return {
    slots,
    isRewritten:
      summaries.size > 0 ||
      slots.some((slot) => slot.isNote || (slot.original !== undefined && !isShrunk(slot))),
    tokens: countRequest(settings, meter, slots),
    uneditedTokens: counted(system + tools + lineTokens),
    roomTokens: Math.max(0, meter.estimatedWithin(limits.most) - estimated),
    parts: computeBreakdown(slots, { system, tools, memories, reserved, window, pins, summaries, counted }),
    limits,
  };
}
