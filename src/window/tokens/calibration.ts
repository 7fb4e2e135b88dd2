/** What a calibration has learned; plain JSON. */
export interface CalibrationState {
  /** Natural logarithm of the factor. */
  readonly level: number;
  /** Typical distance of a report from the level, in logarithms. */
  readonly spread: number;
  readonly reports: number;
  /** Reports in a row that lay too far off to be believed; the sign says on which side. */
  readonly doubted: number;
}

/** How far estimates are off for one model, learned from what its provider reports. Values never change: observing returns a new one. */
export interface Calibration {
  readonly state: CalibrationState;
  /** Multiply an estimate by this. 1, or what it was started with, until something was reported. */
  readonly factor: number;
  /** Learns from one request: what was estimated for it, uncalibrated, and what was reported. */
  observe(estimated: number, reported: number): Calibration;
}

/** Share of the newest report; the first ones weigh more, so that they average. */
const NEWEST_SHARE = 0.15;
/** A report this many spreads away is believed only as far as that. */
const BELIEVED_SPREADS = 3;
const LEAST_SPREAD = 0.02;
const FIRST_SPREAD = 0.1;
/** After so many doubted reports on one side the model has changed, and learning starts anew from them. */
const DOUBTS_TO_RELEARN = 4;
/** Nothing real lies beyond; such a report is of another request. */
const LARGEST_FACTOR = 5;

/** The state of a calibration that has learned nothing yet; `factor` is what holds until the first report. */
export function untaught(factor = 1): CalibrationState {
  return { level: Math.log(factor), spread: FIRST_SPREAD, reports: 0, doubted: 0 };
}

/** A calibration as it was saved, or one that has learned nothing yet. */
export function calibration(state: CalibrationState = untaught()): Calibration {
  return {
    state,
    factor: Math.exp(state.level),
    observe: (estimated, reported) => {
      const ratio = reported / estimated;
      const isUsable = estimated > 0 && ratio >= 1 / LARGEST_FACTOR && ratio <= LARGEST_FACTOR;
      return isUsable ? calibration(learn(state, Math.log(ratio))) : calibration(state);
    },
  };
}

function learn(state: CalibrationState, report: number): CalibrationState {
  if (state.reports === 0) return { ...state, level: report, reports: 1 };
  const distance = report - state.level;
  const reach = BELIEVED_SPREADS * state.spread;
  const doubted = doubtAfter(state.doubted, distance, reach);
  if (Math.abs(doubted) >= DOUBTS_TO_RELEARN) {
    return { level: report, spread: FIRST_SPREAD, reports: 1, doubted: 0 };
  }
  const share = Math.max(NEWEST_SHARE, 1 / (state.reports + 1));
  const believed = Math.max(-reach, Math.min(reach, distance));
  return {
    level: state.level + share * believed,
    spread: Math.max(LEAST_SPREAD, state.spread + share * (Math.abs(believed) - state.spread)),
    reports: state.reports + 1,
    doubted,
  };
}

function doubtAfter(doubted: number, distance: number, reach: number): number {
  if (Math.abs(distance) <= reach) return 0;
  const side = Math.sign(distance);
  return Math.sign(doubted) === side ? doubted + side : side;
}
