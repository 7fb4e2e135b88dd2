import { sizeOf } from "../size.ts";
import type { Fitted } from "./fitted.ts";
import type { LoadedWindow } from "./load-window.ts";
import type { Meter } from "./meter.ts";
import { partsOf } from "./parts.ts";
import type { Settings } from "./settings.ts";

/** The size of a window, and what it is made of. */
export function measured(
  { slots, pins, summaries }: LoadedWindow,
  { system, tools, memories, limits }: Settings,
  meter: Meter,
): Pick<Fitted, "slots" | "tokens" | "roomTokens" | "parts" | "limits"> {
  const counted = (estimated: number) => meter.counted(estimated);
  const { reserve: reserved, window } = limits;
  const estimated = system + tools + memories + sizeOf(slots);
  return {
    slots,
    tokens: counted(estimated),
    roomTokens: Math.max(0, meter.estimatedWithin(limits.most) - estimated),
    parts: partsOf(slots, { system, tools, memories, reserved, window, pins, summaries, counted }),
    limits,
  };
}
