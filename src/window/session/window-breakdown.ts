import type { Slot } from "../slot.ts";
import type { Meter } from "./meter.ts";

/** Tokens of a request by purpose; together with `free` they fill the model's window. */
export interface WindowBreakdown {
  readonly system: number;
  readonly tools: number;
  /** The agent's memories, which are sent with the system prompt. */
  readonly memories: number;
  readonly pins: number;
  readonly summaries: number;
  readonly recalled: number;
  readonly history: number;
  readonly reserved: number;
  readonly free: number;
}

/** Marks a message with content recalled from memory. */
const RECALLED = "recalled";

/** Adds up the tokens of a window by purpose. */
export function computeBreakdown(
  slots: readonly Slot[],
  rest: {
    readonly system: number;
    readonly tools: number;
    readonly memories: number;
    readonly reserved: number;
    readonly window: number;
    readonly pins: ReadonlySet<number>;
    readonly summaries: ReadonlySet<number>;
    readonly meter: Pick<Meter, "counted">;
  },
): WindowBreakdown {
  const { meter, reserved, window } = rest;
  const sums = { pins: 0, summaries: 0, recalled: 0, history: 0 };
  for (const slot of slots) sums[chooseKind(slot, rest)] += slot.tokens;
  const frame = rest.system + rest.tools + rest.memories;
  const total = frame + sums.pins + sums.summaries + sums.recalled + sums.history;
  const scale = total === 0 ? 1 : meter.counted(total) / total;
  const parts = {
    system: Math.round(rest.system * scale),
    tools: Math.round(rest.tools * scale),
    memories: Math.round(rest.memories * scale),
    pins: Math.round(sums.pins * scale),
    summaries: Math.round(sums.summaries * scale),
    recalled: Math.round(sums.recalled * scale),
    history: Math.round(sums.history * scale),
    reserved,
  };
  let free = window;
  for (const tokens of Object.values(parts)) free -= tokens;
  return { ...parts, free: Math.max(0, free) };
}

function chooseKind(
  { seq, isNote, message }: Slot,
  { pins, summaries }: { readonly pins: ReadonlySet<number>; readonly summaries: ReadonlySet<number> },
) {
  if (message.meta?.longhaul === RECALLED) return "recalled";
  if (isNote || summaries.has(seq)) return "summaries";
  return pins.has(seq) ? "pins" : "history";
}
