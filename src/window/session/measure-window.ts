import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { isSystem } from "../is-system.ts";
import { findNewestQuestion, findProtectedSeqs } from "../protected-seqs.ts";
import { isShrunk } from "../shrink/result-shrinker.ts";
import { type Slot, sumSlotTokens } from "../slot.ts";
import type { FittedWindow, HeldContent, WindowBreakdown } from "./fitted-window.ts";
import type { LoadedWindow } from "./load-window.ts";
import type { Meter } from "./meter.ts";
import { estimateRequest, type WindowSettings } from "./window-settings.ts";

/** Share of the window from which content that can never leave it calls for a new conversation. */
export const ADVICE_SHARE = 0.7;

/** The size of a window and its breakdown by kind. */
export function measureWindow(
  window: LoadedWindow,
  settings: WindowSettings,
  meter: Meter,
): Pick<
  FittedWindow,
  | "slots"
  | "isRewritten"
  | "tokens"
  | "uneditedTokens"
  | "roomTokens"
  | "parts"
  | "held"
  | "advice"
  | "limits"
> {
  const { system, tools, limits } = settings;
  const { slots, lineTokens, summaries, held } = window;
  const estimated = estimateRequest(settings, slots);
  const tokens = meter.counted(estimated);
  const advice = tokens < limits.window * ADVICE_SHARE ? undefined : findAdvice(window, settings, meter);
  return {
    slots,
    isRewritten:
      summaries.size > 0 ||
      slots.some((slot) => slot.isNote || (slot.original !== undefined && !isShrunk(slot))),
    tokens,
    uneditedTokens: meter.counted(system + tools + lineTokens),
    roomTokens: Math.max(0, meter.estimatedWithin(limits.most) - estimated),
    parts: computeBreakdown(window, settings, meter),
    ...(held.length > 0 && { held: measureHeld(window, meter) }),
    ...dropUndefined({ advice }),
    limits,
  };
}

/**
 * The advice to begin a new conversation; undefined while a later edit could make room, or if a new conversation would
 * begin with half of it again, because system prompt and tools are what fills the window.
 */
function findAdvice(
  { slots, pins, summaries }: LoadedWindow,
  { policy, isClipping, system, tools, memories, limits }: WindowSettings,
  meter: Meter,
): FittedWindow["advice"] {
  const fixed = new Set([...pins, ...summaries]);
  const kept = isClipping ? fixed : findProtectedSeqs(slots, fixed);
  // The running turn is protected too, and can leave when the next one begins.
  const reply = slots.findLastIndex(({ message }) => message.role === "assistant");
  const running = Math.min(findNewestQuestion(slots), ...(reply < 0 ? [] : [reply]));
  const settled = slots.filter((slot, index) => {
    if (policy.name === "none" || isSystem(slot) || fixed.has(slot.seq)) return true;
    return kept.has(slot.seq) && index < running;
  });
  const frame = system + tools + memories;
  const settledTokens = meter.counted(frame + sumSlotTokens(settled));
  const share = settledTokens / limits.window;
  return share < ADVICE_SHARE || meter.counted(frame) > settledTokens / 2
    ? undefined
    : { settledTokens, share };
}

function measureHeld({ slots, past, held, places }: LoadedWindow, meter: Meter): readonly HeldContent[] {
  return held.map(({ revert, ranges }) => {
    const stretches = places.toStretches(ranges);
    const isHeld = ({ seq, isNote }: Slot) =>
      !isNote && stretches.some(({ from, to }) => from <= seq && seq <= to);
    const shown = slots.filter(isHeld);
    return {
      revert,
      messages: shown.length,
      tokens: meter.counted(sumSlotTokens(shown)),
      messagesLeft: past.filter(isHeld).length,
    };
  });
}

/** Marks a message with content recalled from memory. */
const RECALLED = "recalled";

/** Adds up the tokens of a window by purpose. */
function computeBreakdown(
  { slots, pins, summaries }: LoadedWindow,
  { system, tools, memories, limits }: WindowSettings,
  meter: Meter,
): WindowBreakdown {
  const sums = { pins: 0, summaries: 0, recalled: 0, history: 0 };
  for (const { seq, isNote, message, tokens } of slots) {
    if (message.meta?.longhaul === RECALLED) sums.recalled += tokens;
    else if (isNote || summaries.has(seq)) sums.summaries += tokens;
    else if (pins.has(seq)) sums.pins += tokens;
    else sums.history += tokens;
  }
  const total = system + tools + memories + sums.pins + sums.summaries + sums.recalled + sums.history;
  const scale = total === 0 ? 1 : meter.counted(total) / total;
  const parts = {
    system: Math.round(system * scale),
    tools: Math.round(tools * scale),
    memories: Math.round(memories * scale),
    pins: Math.round(sums.pins * scale),
    summaries: Math.round(sums.summaries * scale),
    recalled: Math.round(sums.recalled * scale),
    history: Math.round(sums.history * scale),
    reserved: limits.reserve,
  };
  let free = limits.window;
  for (const tokens of Object.values(parts)) free -= tokens;
  return { ...parts, free: Math.max(0, free) };
}
