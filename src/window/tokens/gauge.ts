import { type CalibrationState, createCalibration, createCalibrationState } from "./calibration.ts";
import { SAFETY } from "./estimate-message.ts";

/** The learned state of a gauge; plain JSON. */
export interface GaugeState {
  readonly calibration: CalibrationState;
  /** The latest window that a provider has counted. */
  readonly anchor?: { readonly estimated: number; readonly counted: number };
}

/**
 * The size of one session's window as its provider counts it. The part covered by the latest report is known, including
 * any system prompt or tools that were not estimated; later changes are estimated. Immutable: observing returns a new
 * value.
 */
export interface Gauge {
  readonly state: GaugeState;
  /** The provider's expected count for a window of `estimated` tokens. */
  counted(estimated: number): number;
  /** The largest estimate for which the provider is certain to count at most `tokens`. */
  estimatedWithin(tokens: number): number;
  /** The estimate for which the provider is expected to count `tokens`. */
  estimatedAt(tokens: number): number;
  /** Learns from one request: its uncalibrated estimate and the provider's count. */
  observe(estimated: number, counted: number): Gauge;
}

/** Smaller changes are mostly frames and rounding, so nothing is learned from them. */
const MIN_LEARNED_CHANGE = 500;
const MIN_MARGIN = 1.02;

/** Restores a saved gauge, or starts a new one. */
export function createGauge(state: GaugeState = { calibration: createCalibrationState() }): Gauge {
  const { factor } = createCalibration(state.calibration);
  return {
    state,
    counted: (estimated) => {
      const { anchor } = state;
      if (!anchor) return Math.round(estimated * factor);
      const byChange = anchor.counted + (estimated - anchor.estimated) * factor;
      if (estimated >= anchor.estimated) return Math.round(byChange);
      // Content that was never estimated does not shrink, so the count never shrinks by more than in proportion.
      return Math.round(Math.max(byChange, anchor.counted * (estimated / anchor.estimated)));
    },
    estimatedWithin: (tokens) => {
      const { reports, spread } = state.calibration;
      const margin = reports === 0 ? SAFETY : Math.min(SAFETY, Math.max(MIN_MARGIN, 1 + 2 * spread));
      return computeEstimate(state, tokens, factor, margin);
    },
    estimatedAt: (tokens) => computeEstimate(state, tokens, factor, 1),
    observe: (estimated, counted) => {
      if (!(estimated >= 0 && counted > 0)) return createGauge(state);
      return createGauge({
        calibration: learnCalibration(state, estimated, counted),
        anchor: { estimated, counted },
      });
    },
  };
}

/** The largest estimate that counts at most `tokens`, even if each token after the anchor counts `margin` times as expected. */
function computeEstimate({ anchor }: GaugeState, tokens: number, factor: number, margin: number): number {
  if (!anchor) return Math.floor(tokens / (factor * margin));
  if (tokens >= anchor.counted)
    return Math.floor(anchor.estimated + (tokens - anchor.counted) / (factor * margin));
  const bySize = anchor.estimated * (tokens / anchor.counted);
  const byChange = anchor.estimated - (anchor.counted - tokens) / (factor / margin);
  return Math.max(0, Math.floor(Math.min(bySize, byChange)));
}

/**
 * Learns from the growth since the last report, which, unlike the whole window, contains nothing that was not
 * estimated.
 */
function learnCalibration(
  { calibration: before, anchor }: GaugeState,
  estimated: number,
  counted: number,
): CalibrationState {
  const change = anchor ? estimated - anchor.estimated : 0;
  if (!anchor || Math.abs(change) < MIN_LEARNED_CHANGE) return before;
  return createCalibration(before).observe(Math.abs(change), (counted - anchor.counted) * Math.sign(change))
    .state;
}
