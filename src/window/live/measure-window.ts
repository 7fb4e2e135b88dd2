import { isShrunk } from "../shrink/result-shrinker.ts";
import type { Slot } from "../slot.ts";
import { sumSlotTokens } from "../sum-slot-tokens.ts";
import { countRequest } from "./count-request.ts";
import { estimateRequest } from "./estimate-request.ts";
import type { FittedWindow, HeldContent } from "./fitted-window.ts";
import type { LoadedWindow } from "./load-window.ts";
import type { Meter } from "./meter.ts";
import { computeBreakdown } from "./window-breakdown.ts";
import type { WindowSettings } from "./window-settings.ts";

/** The size of a window and its breakdown by kind. */
export function measureWindow(
  window: LoadedWindow,
  settings: WindowSettings,
  meter: Meter,
): Pick<
  FittedWindow,
  "slots" | "isRewritten" | "tokens" | "uneditedTokens" | "roomTokens" | "parts" | "held" | "limits"
> {
  const counted = (estimated: number) => meter.counted(estimated);
  const { system, tools, memories, limits } = settings;
  const { slots, lineTokens, pins, summaries } = window;
  const { reserve: reserved, window: size } = limits;
  const held = measureHeld(window, counted);
  const estimated = estimateRequest(settings, slots);
  return {
    slots,
    isRewritten:
      summaries.size > 0 ||
      slots.some((slot) => slot.isNote || (slot.original !== undefined && !isShrunk(slot))),
    tokens: countRequest(settings, meter, slots),
    uneditedTokens: counted(system + tools + lineTokens),
    roomTokens: Math.max(0, meter.estimatedWithin(limits.most) - estimated),
    parts: computeBreakdown(slots, {
      system,
      tools,
      memories,
      reserved,
      window: size,
      pins,
      summaries,
      counted,
    }),
    ...(held.length > 0 && { held }),
    limits,
  };
}

function measureHeld(
  { slots, past, held, places }: LoadedWindow,
  counted: (estimated: number) => number,
): readonly HeldContent[] {
  return held.map(({ revert, ranges }) => {
    const stretches = places.toStretches(ranges);
    const isHeld = ({ seq, isNote }: Slot) =>
      !isNote && stretches.some(({ from, to }) => from <= seq && seq <= to);
    const shown = slots.filter(isHeld);
    return {
      revert,
      messages: shown.length,
      tokens: counted(sumSlotTokens(shown)),
      messagesLeft: past.filter(isHeld).length,
    };
  });
}
