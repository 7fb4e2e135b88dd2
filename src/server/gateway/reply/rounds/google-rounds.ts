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
    const parts = bodies.flatMap((body) => hideOwnCalls()(listParts(body)));
    const usages = bodies
      .map(({ usageMetadata }) => toObject(usageMetadata))
      .filter((one) => one !== undefined);
    return withUsage(withParts(last, parts), usages);
  },
  findEnd: () => undefined,
};

/** In place of the end of a chunk, for one that does not end the reply. */
const NO_END = { finishReason: undefined };
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

function getCall(part: WireObject): WireObject | undefined {
  return toObject(part.functionCall);
}

function isOwnCall(part: WireObject): boolean {
  return isRecallTool(getCall(part)?.name);
}

/** Leaves the gateway's calls out. Calls at once have one signature, on the first, so that the next call inherits it. */
function hideOwnCalls(): (parts: readonly WireObject[]) => readonly WireObject[] {
  let signature: unknown;
  return (parts) =>
    parts.flatMap((part) => {
      if (!getCall(part)) return [part];
      const shown = signature === undefined ? part : { thoughtSignature: signature, ...part };
      signature = isOwnCall(part) ? shown.thoughtSignature : undefined;
      return isOwnCall(part) ? [] : [shown];
    });
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
  // The parts go back as they came, with their signatures; Google refuses empty text.
  const said = parts.filter(({ text, thoughtSignature }) => text !== "" || thoughtSignature !== undefined);
  return { calls, elements: [{ role: "model", parts: said }] };
}

/** A chunk or body with other parts. */
function withParts(chunk: WireObject, parts: readonly WireObject[], end: WireObject = {}): WireObject {
  const candidate = { ...getCandidate(chunk), ...end };
  const content = { role: "model", ...toObject(candidate.content), parts };
  return { ...chunk, candidates: [{ ...candidate, content }, ...toArray(chunk.candidates).slice(1)] };
}

/** A chunk or body with the usage of several rounds: the input of the last one, and the output of all. */
function withUsage(chunk: WireObject, usages: readonly WireObject[]): WireObject {
  const last = usages.at(-1);
  if (!last || usages.length === 1) return chunk;
  const joined: Record<string, unknown> = { ...last };
  for (const name of OUTPUT_COUNTS) {
    const earlier = usages.slice(0, -1).reduce((sum, usage) => sum + (toNumber(usage[name]) ?? 0), 0);
    for (const field of earlier > 0 ? [name, "totalTokenCount"] : [])
      joined[field] = (toNumber(joined[field]) ?? 0) + earlier;
  }
  return { ...chunk, usageMetadata: joined };
}

/** Joins Google's streams into one, and withholds the gateway's calls and the ends of inner rounds. */
class GoogleStreamMerger implements StreamMerger {
  readonly #maxRounds: number;
  readonly #earlierUsages: WireObject[] = [];
  #parts: WireObject[] = [];
  #hide = hideOwnCalls();
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
    const shown = this.#hide(parts);
    this.hasText ||= shown.some(isText);
    this.#hasClientCall ||= shown.some((part) => getCall(part) !== undefined);
    this.#head = { ...this.#head, modelVersion: chunk.modelVersion, responseId: chunk.responseId };
    const isEnd = toText(getCandidate(chunk).finishReason) !== undefined;
    const round = isEnd ? findGoogleRound(this.#parts) : undefined;
    if (round && this.#earlierUsages.length < this.#maxRounds) {
      this.#recallRound = round;
      return shown.length === 0 ? [] : [replaceEventData(event, withParts(chunk, shown, NO_END))];
    }
    this.hasEnded = isEnd;
    const isWhole = parts.every((part, at) => part === shown[at]);
    if (isWhole && (!isEnd || this.#earlierUsages.length === 0)) return [event];
    // A chunk with nothing but our call tells the client nothing.
    if (shown.length === 0 && !isEnd) return [];
    const changed = isWhole ? chunk : withParts(chunk, shown);
    return [replaceEventData(event, isEnd ? withUsage(changed, this.usages) : changed)];
  }

  next(): RecallRound | undefined {
    const round = this.#recallRound;
    if (!round) return undefined;
    this.#earlierUsages.push(this.#usage ?? {});
    this.#parts = [];
    this.#hide = hideOwnCalls();
    this.#usage = undefined;
    this.#recallRound = undefined;
    return round;
  }

  finish(): readonly WireEvent[] | undefined {
    if (!this.hasText || this.#hasClientCall || this.hasEnded) return undefined;
    this.hasEnded = true;
    const candidates = [{ content: { role: "model", parts: [] }, finishReason: "STOP", index: 0 }];
    const chunk = { candidates, ...this.#head, usageMetadata: this.usages.at(-1) };
    return [{ data: JSON.stringify(withUsage(chunk, this.usages)) }];
  }
}
