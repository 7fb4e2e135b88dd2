import type { Json } from "../../model/json.ts";
import type { Message } from "../../model/message.ts";
import type { Part } from "../../model/part.ts";
import { type CalibrationState, createCalibration, createCalibrationState } from "./calibration.ts";
import { SAFETY } from "./estimate-text.ts";

/** The learned state of a gauge; plain JSON. */
interface GaugeState {
  readonly calibration: CalibrationState;
  /** The latest window that a provider has counted. */
  readonly anchor?: { readonly estimated: number; readonly counted: number };
}

/**
 * The size of one session's window as its provider counts it. The part covered by the latest report is known, including
 * any system prompt or tools that were not estimated; later changes are estimated. Immutable: observing returns a new
 * value.
 */
interface Gauge {
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

/** One request: its uncalibrated estimate and the provider's count. */
interface CountedRequest {
  readonly estimated: number;
  readonly counted: number;
}

/** A session's knowledge of its provider's counts. Immutable: learning returns a new value. */
export interface LearnedCounts {
  readonly gauge: Gauge;
  /** The latest consecutive counts that were too surprising to be trusted on their own, newest last. */
  readonly doubted?: readonly CountedRequest[];
}

/** Minimum tokens per estimated token: no tokenizer counts fewer for typical model input. */
export const MIN_RATIO = 0.3;
/** Maximum tokens per estimated token: no tokenizer counts more for any text. */
const MAX_RATIO = 5;
/** Tokens by which any count may be off: preambles for tools, dates, reminders. */
const SLACK_TOKENS = 2_000;
/** Share by which the previously counted part of a request may be counted differently now. */
const KNOWN_SHARE = 0.15;
/**
 * Tolerances within which two surprising counts must agree: in tokens, and as a share of the estimated change between
 * them.
 */
const AGREED_TOKENS = 500;
const AGREED_SHARE = 0.6;
/**
 * Share by which the ratios of counts to estimates may differ, and the number of counts that must agree to overrule
 * known ones.
 */
const AGREED_RATIO = 0.05;
const MIN_AGREED = 3;
/** Maximum tokens that a provider may count for one image, and for a file or page that the request only references. */
const MAX_IMAGE_TOKENS = 50_000;
const MAX_NAMED_TOKENS = 200_000;
/** Allowance for a system prompt and tools that the caller did not mention. */
const MAX_UNKNOWN_FRAME_TOKENS = 50_000;

/**
 * Learns a count if it is plausible. A count near the expected one is trusted at once; any other only when later counts
 * agree with it, because a provider that sums several rounds or reports another request is rarely wrong twice in the
 * same way.
 */
export function learnCount(known: LearnedCounts, request: CountedRequest): LearnedCounts {
  const { estimated, counted } = request;
  const isUsable = Number.isFinite(estimated) && Number.isFinite(counted) && counted > 0;
  if (!isUsable || counted < estimated * MIN_RATIO) return known;
  const expected = known.gauge.counted(estimated);
  if (Math.abs(counted - expected) <= computeTolerance(known.gauge.state, estimated, expected))
    return { gauge: known.gauge.observe(estimated, counted) };
  const { doubted = [] } = known;
  const last = doubted.at(-1);
  if (
    !last ||
    !(isAgreeing(known.gauge, last, request) || isAgreeingInRatio(known.gauge, [...doubted, request]))
  )
    return { ...known, doubted: [...doubted, request].slice(-MIN_AGREED) };
  // Learn the provider's ratio from the change between the two counts, not from the jump to them.
  const { calibration } = known.gauge.state;
  return { gauge: createGauge({ calibration, anchor: last }).observe(estimated, counted) };
}

/** The most tokens that a provider can count for messages and the system prompt and tools before them. */
export function estimateMaxCount(
  messages: readonly Message[],
  estimated: number,
  isFrameKnown: boolean,
): number {
  const media = messages.reduce((sum, { parts }) => sum + estimateMedia(parts), 0);
  return SLACK_TOKENS + MAX_RATIO * estimated + media + (isFrameKnown ? 0 : MAX_UNKNOWN_FRAME_TOKENS);
}

/** The previously counted part is well known; the part that changed since may count double or not at all. */
function computeTolerance({ anchor }: GaugeState, estimated: number, expected: number): number {
  const changed = Math.abs(estimated - (anchor?.estimated ?? 0));
  const perEstimated = expected / Math.max(1, estimated);
  return SLACK_TOKENS + KNOWN_SHARE * expected + changed * perEstimated;
}

/** True for counts of another tokenizer. Overruling known counts of the old tokenizer takes more of them. */
function isAgreeingInRatio({ state }: Gauge, requests: readonly CountedRequest[]): boolean {
  const needed = state.anchor ? MIN_AGREED : 2;
  const ratios = requests.slice(-needed).map(({ estimated, counted }) => counted / Math.max(1, estimated));
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  return ratios.length === needed && most <= MAX_RATIO && most <= least * (1 + AGREED_RATIO);
}

/** True if the later count equals the earlier one adjusted for the change of the request in between. */
function isAgreeing({ state }: Gauge, earlier: CountedRequest, later: CountedRequest): boolean {
  const expected = createGauge({ calibration: state.calibration, anchor: earlier }).counted(later.estimated);
  const factor = Math.exp(state.calibration.level);
  const changed = factor * Math.abs(later.estimated - earlier.estimated);
  return Math.abs(later.counted - expected) <= AGREED_TOKENS + AGREED_SHARE * changed;
}

const NAMED_MEDIA = /image|document|file|audio|video|reference/;

/** True for a block of a foreign format that references media by URL or id. */
function isNamedMedia(value: Json): boolean {
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  return typeof type === "string" && NAMED_MEDIA.test(type);
}

/** Tokens of parts that the estimate cannot measure. */
function estimateMedia(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => {
    if (part.type === "tool-result") return sum + estimateMedia(part.output);
    if (part.type === "raw") return sum + (isNamedMedia(part.value) ? MAX_NAMED_TOKENS : 0);
    if (part.type !== "blob" || part.of !== undefined) return sum;
    return sum + (part.mime.startsWith("image/") ? MAX_IMAGE_TOKENS : MAX_NAMED_TOKENS);
  }, 0);
}
