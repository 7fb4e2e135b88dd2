import type { Json } from "../../index.ts";
import { type LoopState, NO_LOOP } from "./breaker.ts";

/** A state as JSON, which has no infinite numbers. */
export function encodeLoopState(state: LoopState): Json {
  return {
    ...state,
    fewestSince: Number.isFinite(state.fewestSince) ? state.fewestSince : null,
  } as unknown as Json;
}

/** A stored state; the initial one if it is missing or of another form. */
export function parseLoopState(stored: Json | undefined): LoopState {
  const state = stored as Partial<LoopState> | null | undefined;
  if (!Array.isArray(state?.answered) || !Array.isArray(state.compactions) || !Array.isArray(state.overflows))
    return NO_LOOP;
  return { ...NO_LOOP, ...state, fewestSince: state.fewestSince ?? NO_LOOP.fewestSince };
}
