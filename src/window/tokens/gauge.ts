import { type CalibrationState, calibration, untaught } from "./calibration.ts";
import { SAFETY } from "./estimate-message.ts";

/** What a gauge has learned; plain JSON. */
export interface GaugeState {
  readonly calibration: CalibrationState;
  /** The latest window that a provider has counted. */
  readonly anchor?: { readonly estimated: number; readonly counted: number };
}

/**
 * The size of one session's window as its provider counts it. What the latest report covered is known, what came or went
 * since is estimated; a system prompt or tools that nobody estimated are in the report. Values never change: observing
 * returns a new one.
 */
export interface Gauge {
  readonly state: GaugeState;
  /** Tokens that the provider will count for a window of so many estimated ones. */
  counted(estimated: number): number;
  /** The most that may be estimated so that the provider surely counts no more than `tokens`. */
  estimatedWithin(tokens: number): number;
  /** Learns from one request: what was estimated for it, uncalibrated, and what was counted. */
  observe(estimated: number, counted: number): Gauge;
}

/** Smaller changes are mostly frames and rounding, and teach nothing. */
const TELLING_CHANGE = 500;
const LEAST_MARGIN = 1.02;

/** A gauge as it was saved, or one that has learned nothing yet. */
export function gauge(state: GaugeState = { calibration: untaught() }): Gauge {
  const { anchor } = state;
  const { factor } = calibration(state.calibration);
  return {
    state,
    counted: (estimated) => Math.round(countedAt(state, estimated, factor)),
    estimatedWithin: (tokens) => {
      const careful = factor * marginOf(state.calibration);
      if (!anchor) return Math.floor(tokens / careful);
      if (tokens >= anchor.counted) return Math.floor(anchor.estimated + (tokens - anchor.counted) / careful);
      const excess = anchor.counted - tokens;
      const bySize = anchor.estimated * (tokens / anchor.counted);
      return Math.max(
        0,
        Math.floor(Math.min(bySize, anchor.estimated - excess / (factor / marginOf(state.calibration)))),
      );
    },
    observe: (estimated, counted) => {
      if (!(estimated >= 0 && counted > 0)) return gauge(state);
      return gauge({ calibration: taught(state, estimated, counted), anchor: { estimated, counted } });
    },
  };
}

function countedAt({ anchor }: GaugeState, estimated: number, factor: number): number {
  if (!anchor) return estimated * factor;
  const byChange = anchor.counted + (estimated - anchor.estimated) * factor;
  if (estimated >= anchor.estimated) return byChange;
  // What nobody estimated does not shrink, so a window never shrinks by more than in proportion.
  return Math.max(byChange, anchor.counted * (estimated / anchor.estimated));
}

/** The growth since the last report teaches: other than a whole window it holds nothing that was not estimated. */
function taught(
  { calibration: before, anchor }: GaugeState,
  estimated: number,
  counted: number,
): CalibrationState {
  const change = anchor ? estimated - anchor.estimated : 0;
  if (!anchor || Math.abs(change) < TELLING_CHANGE) return before;
  return calibration(before).observe(Math.abs(change), (counted - anchor.counted) * Math.sign(change)).state;
}

function marginOf({ reports, spread }: CalibrationState): number {
  return reports === 0 ? SAFETY : Math.min(SAFETY, Math.max(LEAST_MARGIN, 1 + 2 * spread));
}
