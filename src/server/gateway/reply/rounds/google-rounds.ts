import { parseObject, toArray, toNumber, toObject, toText } from "../../../../wire/fields.ts";
import type { WireEvent, WireObject } from "../../../../wire/wire.ts";
import { isRecallTool } from "../../recall/recall-tools.ts";
import {
  type RecallCall,
  type RecallCallResult,
  type RecallRound,
  type RoundFormat,
  replaceEventData,
  type StreamMerger,
} from "./round-format.ts";

/** Rounds in Google's generateContent. */
export const googleRounds: RoundFormat = {
  encodeResults: (answers) => [{ role: "user", parts: answers.map(encodeResult) }],
  openStream: (maxRounds) => new GoogleStreamMerger(maxRounds),
  readBody: (body) => ({
    recallRound: findGoogleRound(listParts(body)),
    hasText: listParts(body).some(isText),
    usage: toObject(body.usageMetadata),
  }),
  mergeBodies(bodies) {
    const [first, ...others] = bodies;
    const last = bodies.at(-1);
    if (!first || !last || (others.length === 0 && !listParts(first).some(isOwnCall))) return first ?? {};
    const parts = bodies.flatMap(listParts).filter((part) => !isOwnCall(part));
    return withUsage(withParts(last, parts), bodies.flatMap(listUsages));
  },
  findEnd: () => undefined,
};

const OUTPUT_COUNTS = ["candidatesTokenCount", "thoughtsTokenCount"];

function encodeResult({ call: { id, name }, text }: RecallCallResult): WireObject {
  return { functionResponse: { ...(id !== "" && { id }), name, response: { result: text } } };
}

/** Only the first candidate is read. */
function getCandidate({ candidates }: WireObject): WireObject {
  return toObject(toArray(candidates)[0]) ?? {};
}

function listParts(chunk: WireObject): readonly WireObject[] {
  return toArray(toObject(getCandidate(chunk).content)?.parts)
    .map(toObject)
    .filter((part) => part !== undefined);
}

function listUsages({ usageMetadata }: WireObject): readonly WireObject[] {
  return toObject(usageMetadata) ? [usageMetadata as WireObject] : [];
}

function getCall(part: WireObject): WireObject | undefined {
  return toObject(part.functionCall);
}

function isOwnCall(part: WireObject): boolean {
  return isRecallTool(getCall(part)?.name);
}

function isText({ text, thought }: WireObject): boolean {
  return toText(text) !== undefined && thought !== true;
}

/** The round made of these parts, if it calls the gateway's tools only. */
function findGoogleRound(parts: readonly WireObject[]): RecallRound | undefined {
  const called = parts.filter((part) => getCall(part) !== undefined);
  if (called.length === 0 || !called.every(isOwnCall)) return undefined;
  const calls = called.map((part): RecallCall => {
    const { id, name, args } = getCall(part) ?? {};
    return { id: toText(id) ?? "", name: String(name), input: toObject(args) ?? {} };
  });
  // The parts go back as they came, with their signatures.
  return { calls, elements: [{ role: "model", parts }] };
}

/** A chunk or body with other parts. */
function withParts(chunk: WireObject, parts: readonly WireObject[]): WireObject {
  const candidate = getCandidate(chunk);
  const content = { role: "model", ...toObject(candidate.content), parts };
  return { ...chunk, candidates: [{ ...candidate, content }, ...toArray(chunk.candidates).slice(1)] };
}

/** A chunk or body with the usage of several rounds: the input of the last one, and the output of all. */
function withUsage(chunk: WireObject, usages: readonly WireObject[]): WireObject {
  const last = usages.at(-1);
  if (!last || usages.length === 1) return chunk;
  const sums = OUTPUT_COUNTS.flatMap((name) => {
    const counts = usages.map((usage) => toNumber(usage[name]) ?? 0);
    return toNumber(last[name]) === undefined
      ? []
      : [[name, counts.reduce((sum, one) => sum + one, 0)] as const];
  });
  const more = sums.reduce((sum, [name, count]) => sum + count - (toNumber(last[name]) ?? 0), 0);
  const total = toNumber(last.totalTokenCount);
  const joined = { ...last, ...Object.fromEntries(sums) };
  return {
    ...chunk,
    usageMetadata: total === undefined ? joined : { ...joined, totalTokenCount: total + more },
  };
}

/** Joins Google's streams into one, and withholds the gateway's calls and the ends of inner rounds. */
class GoogleStreamMerger implements StreamMerger {
  readonly #maxRounds: number;
  readonly #earlierUsages: WireObject[] = [];
  #parts: WireObject[] = [];
  #usage: WireObject | undefined;
  #recallRound: RecallRound | undefined;
  #hasClientCall = false;
  #head: WireObject = {};
  hasText = false;
  hasEnded = false;
  readonly end = undefined;

  constructor(maxRounds: number) {
    this.#maxRounds = maxRounds;
  }

  get usages(): readonly WireObject[] {
    return this.#usage ? [...this.#earlierUsages, this.#usage] : this.#earlierUsages;
  }

  take(event: WireEvent): readonly WireEvent[] {
    const chunk = parseObject(event.data);
    if (this.hasEnded) return [];
    if (!chunk) return [event];
    const parts = listParts(chunk);
    this.#parts.push(...parts);
    this.#usage = toObject(chunk.usageMetadata) ?? this.#usage;
    const shown = parts.filter((part) => !isOwnCall(part));
    this.hasText ||= shown.some(isText);
    this.#hasClientCall ||= shown.some((part) => getCall(part) !== undefined);
    const { modelVersion, responseId } = chunk;
    this.#head = { ...this.#head, modelVersion, responseId };
    const isEnd = toText(getCandidate(chunk).finishReason) !== undefined;
    const round = isEnd ? findGoogleRound(this.#parts) : undefined;
    if (round && this.#earlierUsages.length < this.#maxRounds) {
      this.#recallRound = round;
      return shown.length === 0 ? [] : [replaceEventData(event, withoutEnd(withParts(chunk, shown)))];
    }
    this.hasEnded = isEnd;
    const isSame = shown.length === parts.length && (!isEnd || this.#earlierUsages.length === 0);
    if (isSame) return [event];
    // A chunk with nothing but our call tells the client nothing.
    if (shown.length === 0 && !isEnd) return [];
    const changed = shown.length === parts.length ? chunk : withParts(chunk, shown);
    return [replaceEventData(event, isEnd ? withUsage(changed, this.usages) : changed)];
  }

  next(): RecallRound | undefined {
    const round = this.#recallRound;
    if (!round) return undefined;
    this.#earlierUsages.push(this.#usage ?? {});
    this.#parts = [];
    this.#usage = undefined;
    this.#recallRound = undefined;
    return round;
  }

  finish(): readonly WireEvent[] | undefined {
    if (!this.hasText || this.#hasClientCall || this.hasEnded) return undefined;
    this.hasEnded = true;
    const candidates = [{ content: { role: "model", parts: [] }, finishReason: "STOP", index: 0 }];
    const [usageMetadata] = this.usages.slice(-1);
    const chunk = withUsage({ candidates, ...this.#head, usageMetadata }, this.usages);
    return [{ data: JSON.stringify(chunk) }];
  }
}

/** A chunk that does not end the reply. */
function withoutEnd(chunk: WireObject): WireObject {
  const { finishReason: _, ...candidate } = getCandidate(chunk);
  return { ...chunk, candidates: [candidate] };
}
