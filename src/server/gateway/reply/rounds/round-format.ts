import { dropUndefined } from "../../../../model/base/drop-undefined.ts";
import { toNumber, toObject } from "../../../../wire/fields.ts";
import type { WireEvent, WireObject } from "../../../../wire/wire.ts";
import type { HiddenEnd } from "../../request/chain.ts";

/** A call of one of the gateway's tools. */
export interface RecallCall {
  readonly id: string;
  readonly name: string;
  readonly input: WireObject;
}

/** The result of such a call. */
export interface RecallCallResult {
  readonly call: RecallCall;
  readonly text: string;
}

/** A round that called the gateway's tools only. */
export interface RecallRound {
  readonly calls: readonly RecallCall[];
  /** The reply of the model, as elements of the next request. */
  readonly elements: readonly WireObject[];
}

/** Joins several rounds into one reply while they stream. */
export interface StreamMerger {
  /** Events to send to the client for an event; the same object where nothing changes. */
  take(event: WireEvent): readonly WireEvent[];
  /** The finished round if another one follows; later events then belong to the next round. */
  next(): RecallRound | undefined;
  /** True once the client was sent the end of the reply. */
  readonly hasEnded: boolean;
  /** True once the client was sent text. */
  readonly hasText: boolean;
  /**
   * Events that end the reply at this point; undefined if no text was sent, or if a part other than text is incomplete.
   */
  finish(): readonly WireEvent[] | undefined;
  /** Usage of each round, as the provider reported it; includes the current round once it has reported. */
  readonly usages: readonly WireObject[];
  /** The end of the reply, if the client was not sent all of it. */
  readonly end: HiddenEnd | undefined;
  /** Calls of the last round that the client does not see and nobody has carried out. */
  readonly leftCalls?: readonly RecallCall[];
}

/** One round of a reply that is not a stream. */
interface BodyRound {
  /** Set if the round called the gateway's tools only. */
  readonly recallRound: RecallRound | undefined;
  /** True if the round has text for the client. */
  readonly hasText: boolean;
  readonly usage: WireObject | undefined;
  /** Calls that the client does not see. */
  readonly calls?: readonly RecallCall[];
}

/** The format of rounds in one API. */
export interface RoundFormat {
  /** The elements with the results of calls. */
  encodeResults(answers: readonly RecallCallResult[]): readonly WireObject[];
  /** `maxRounds` counts the rounds after the first. */
  openStream(maxRounds: number): StreamMerger;
  readBody(body: WireObject): BodyRound;
  /** Joins several bodies into one without the gateway's calls; a single body without such calls stays as it is. */
  mergeBodies(bodies: readonly WireObject[]): WireObject;
  /** The end of the bodies joined, if the client was not sent all of it. */
  findEnd(bodies: readonly WireObject[]): HiddenEnd | undefined;
}

/** An event with other data. */
export function replaceEventData({ event }: WireEvent, value: WireObject): WireEvent {
  return { ...dropUndefined({ event }), data: JSON.stringify(value) };
}

/** An event of the gateway, named by its type. */
export function buildNamedEvent(value: WireObject & { readonly type: string }): WireEvent {
  return { event: value.type, data: JSON.stringify(value) };
}

/** Counts that are added up over all rounds. */
const SUMMED_FIELDS = ["output_tokens", "completion_tokens", "cost"];
const INPUT_FIELDS = ["prompt_tokens", "input_tokens"];
const OUTPUT_FIELDS_OF_ROUND = ["completion_tokens", "output_tokens"];
const DETAIL_FIELDS = ["output_tokens_details", "completion_tokens_details"];

/**
 * Usage of a reply with several rounds: the input of the last round, which includes the earlier ones, and the output of
 * all.
 */
export function mergeRoundUsage(usages: readonly WireObject[]): WireObject | undefined {
  const last = usages.at(-1);
  if (!last || usages.length === 1) return last;
  const joined: { [field: string]: unknown } = { ...last, ...sumFields(usages, SUMMED_FIELDS) };
  for (const name of DETAIL_FIELDS) {
    const inner = usages.map((usage) => toObject(usage[name]) ?? {});
    const own = toObject(last[name]);
    if (own) joined[name] = { ...own, ...sumFields(inner, Object.keys(own)) };
  }
  if (toNumber(last.total_tokens) !== undefined)
    joined.total_tokens = findFirst(joined, INPUT_FIELDS) + findFirst(joined, OUTPUT_FIELDS_OF_ROUND);
  return joined;
}

/** The same of whole replies. */
export function mergeBodyUsage(bodies: readonly WireObject[]): WireObject | undefined {
  return mergeRoundUsage(bodies.map(({ usage }) => toObject(usage)).filter((usage) => usage !== undefined));
}

/** Sums of those fields that the last report has. */
function sumFields(counts: readonly WireObject[], fields: readonly string[]): WireObject {
  const last = counts.at(-1) ?? {};
  const counted = fields.filter((field) => toNumber(last[field]) !== undefined);
  return Object.fromEntries(
    counted.map((field) => [field, counts.reduce((sum, one) => sum + (toNumber(one[field]) ?? 0), 0)]),
  );
}

function findFirst(counts: WireObject, fields: readonly string[]): number {
  return fields.map((field) => toNumber(counts[field])).find((count) => count !== undefined) ?? 0;
}
