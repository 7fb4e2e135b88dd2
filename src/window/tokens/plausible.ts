import type { Json } from "../../model/json.ts";
import type { Message } from "../../model/message.ts";
import type { Part } from "../../model/part.ts";
import type { Gauge, GaugeState } from "./gauge.ts";
import { gauge } from "./gauge.ts";

/** One request: the tokens that were estimated for it, uncalibrated, and those that its provider counted. */
export interface CountedRequest {
  readonly estimated: number;
  readonly counted: number;
}

/** What a session has learned about its provider's counts. Values never change: learning returns a new one. */
export interface LearnedCounts {
  readonly gauge: Gauge;
  /** The latest counts in a row that were too surprising to be believed by themselves, the newest last. */
  readonly doubted?: readonly CountedRequest[];
}

/** Tokens for each estimated one: no tokenizer counts fewer of what models are sent. */
export const MIN_RATIO = 0.3;
/** Tokens for each estimated one: no tokenizer counts more of any text. */
const MAX_RATIO = 5;
/** Tokens by which any count may miss: preambles for tools, dates, reminders. */
const SLACK_TOKENS = 2_000;
/** Share by which the part of a request that was counted before may count differently now. */
const KNOWN_SHARE = 0.15;
/** How closely two surprising counts have to agree, in tokens and as a share of what was estimated between them. */
const AGREED_TOKENS = 500;
const AGREED_SHARE = 0.6;
/** Share by which the ratios of counts to estimates may differ, and how many have to agree against what was known. */
const AGREED_RATIO = 0.05;
const MIN_AGREED = 3;
/** What a provider may count for one image, and for a file or a page that the request only names. */
const MAX_IMAGE_TOKENS = 50_000;
const MAX_NAMED_TOKENS = 200_000;
/** A system prompt and tools that the caller did not mention. */
const MAX_UNTOLD_TOKENS = 50_000;

/**
 * Learns a count if it can be true. A count near what was expected is believed at once; any other one only when later
 * counts agree with it, for a provider that sums several rounds or reports another request is rarely wrong twice in the
 * same way.
 */
export function learnCount(known: LearnedCounts, request: CountedRequest): LearnedCounts {
  const { estimated, counted } = request;
  if (!isUsable(request)) return known;
  const expected = known.gauge.counted(estimated);
  if (Math.abs(counted - expected) <= toleranceOf(known.gauge.state, estimated, expected))
    return { gauge: known.gauge.observe(estimated, counted) };
  const { doubted = [] } = known;
  const last = doubted.at(-1);
  if (!last || !(agree(known.gauge, last, request) || agreeInRatio(known.gauge, [...doubted, request])))
    return { ...known, doubted: [...doubted, request].slice(-MIN_AGREED) };
  // What has changed between the two teaches how the provider counts; the jump to them does not.
  const { calibration } = known.gauge.state;
  return { gauge: gauge({ calibration, anchor: last }).observe(estimated, counted) };
}

/** The most tokens that a provider can count for messages, and for what goes before them. */
export function maxCountOf(messages: readonly Message[], estimated: number, isFrameKnown: boolean): number {
  const media = messages.reduce((sum, { parts }) => sum + mediaTokens(parts), 0);
  return SLACK_TOKENS + MAX_RATIO * estimated + media + (isFrameKnown ? 0 : MAX_UNTOLD_TOKENS);
}

function isUsable({ estimated, counted }: CountedRequest): boolean {
  return (
    Number.isFinite(estimated) && Number.isFinite(counted) && counted > 0 && counted >= estimated * MIN_RATIO
  );
}

/** The part that was counted before is known well; what came or went since may count twice, or not at all. */
function toleranceOf({ anchor }: GaugeState, estimated: number, expected: number): number {
  const changed = Math.abs(estimated - (anchor?.estimated ?? 0));
  const perEstimated = expected / Math.max(1, estimated);
  return SLACK_TOKENS + KNOWN_SHARE * expected + changed * perEstimated;
}

/** True for counts of another tokenizer. A session that has known counts of the old one needs more of them. */
function agreeInRatio({ state }: Gauge, requests: readonly CountedRequest[]): boolean {
  const needed = state.anchor ? MIN_AGREED : 2;
  const ratios = requests.slice(-needed).map(({ estimated, counted }) => counted / Math.max(1, estimated));
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  return ratios.length === needed && most <= MAX_RATIO && most <= least * (1 + AGREED_RATIO);
}

/** True if the second count is the first one with what was added to the request since, or taken away from it. */
function agree({ state }: Gauge, earlier: CountedRequest, later: CountedRequest): boolean {
  const expected = gauge({ calibration: state.calibration, anchor: earlier }).counted(later.estimated);
  const factor = Math.exp(state.calibration.level);
  const changed = factor * Math.abs(later.estimated - earlier.estimated);
  return Math.abs(later.counted - expected) <= AGREED_TOKENS + AGREED_SHARE * changed;
}

const NAMED_MEDIA = /image|document|file|audio|video|reference/;

/** True for a block of a foreign format that names media by an address or an id. */
function isNamedMedia(value: Json): boolean {
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  return typeof type === "string" && NAMED_MEDIA.test(type);
}

/** Tokens of parts whose size in tokens the estimate cannot see. */
function mediaTokens(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => {
    if (part.type === "tool-result") return sum + mediaTokens(part.output);
    if (part.type === "raw") return sum + (isNamedMedia(part.value) ? MAX_NAMED_TOKENS : 0);
    if (part.type !== "blob" || part.of !== undefined) return sum;
    return sum + (part.mime.startsWith("image/") ? MAX_IMAGE_TOKENS : MAX_NAMED_TOKENS);
  }, 0);
}
