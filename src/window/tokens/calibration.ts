/** The learned state of a calibration; plain JSON. */
export interface CalibrationState {
  /** Natural logarithm of the factor. */
  readonly level: number;
  /** Typical distance of a report from the level, in logarithms. */
  readonly spread: number;
  readonly reports: number;
  /** Number of consecutive reports too far off to be trusted; the sign gives the direction. */
  readonly doubted: number;
}

/**
 * The estimation error for one model, learned from its provider's reports. Immutable: observing returns a new value.
 */
export interface Calibration {
  readonly state: CalibrationState;
  /** Factor to multiply an estimate by. Stays at 1, or the starting factor, until the first report. */
  readonly factor: number;
  /** Learns from one request: its uncalibrated estimate and the reported count. */
  observe(estimated: number, reported: number): Calibration;
}

/** Weight of the newest report; the first reports weigh more, so that they average. */
const NEWEST_SHARE = 0.15;
/** A report farther away than this many spreads is clamped to that distance. */
const MAX_TRUSTED_SPREADS = 3;
const MIN_SPREAD = 0.02;
const FIRST_SPREAD = 0.1;
/** After this many doubted reports in one direction, the model must have changed, so learning starts over. */
const DOUBTS_TO_RELEARN = 4;
/** Larger factors do not occur; such a report belongs to another request. */
const MAX_FACTOR = 5;

/** The state of a calibration without reports; `factor` applies until the first one. */
export function createCalibrationState(factor = 1): CalibrationState {
  return { level: Math.log(factor), spread: FIRST_SPREAD, reports: 0, doubted: 0 };
}

/** Restores a saved calibration, or starts a new one. */
export function createCalibration(state: CalibrationState = createCalibrationState()): Calibration {
  return {
    state,
    factor: Math.exp(state.level),
    observe: (estimated, reported) => {
      const ratio = reported / estimated;
      const isUsable = estimated > 0 && ratio >= 1 / MAX_FACTOR && ratio <= MAX_FACTOR;
      return isUsable ? createCalibration(learn(state, Math.log(ratio))) : createCalibration(state);
    },
  };
}

function learn(state: CalibrationState, report: number): CalibrationState {
  if (state.reports === 0) return { ...state, level: report, reports: 1 };
  const distance = report - state.level;
  const reach = MAX_TRUSTED_SPREADS * state.spread;
  const doubted = updateDoubt(state.doubted, distance, reach);
  if (Math.abs(doubted) >= DOUBTS_TO_RELEARN) {
    return { level: report, spread: FIRST_SPREAD, reports: 1, doubted: 0 };
  }
  const share = Math.max(NEWEST_SHARE, 1 / (state.reports + 1));
  const believed = Math.max(-reach, Math.min(reach, distance));
  return {
    level: state.level + share * believed,
    spread: Math.max(MIN_SPREAD, state.spread + share * (Math.abs(believed) - state.spread)),
    reports: state.reports + 1,
    doubted,
  };
}

function updateDoubt(doubted: number, distance: number, reach: number): number {
  if (Math.abs(distance) <= reach) return 0;
  const side = Math.sign(distance);
  return Math.sign(doubted) === side ? doubted + side : side;
}
