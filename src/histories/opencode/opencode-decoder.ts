import type { Json, PartInput, Usage } from "../../kernel/index.ts";
import { BoundedMap } from "../../model/base/caches.ts";
import { computeFingerprint } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { omitFields, toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import type { Item, RecordBody, RecordItem, Span } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { decodeOpencodeCall, decodeOpencodePart, isEnded } from "./opencode-parts.ts";
import type { StoredItem, StoredMessage } from "./stored-item.ts";
import { decodeToolResult } from "./tool-results.ts";

/** Maximum messages to remember: the tail that a compaction keeps begins within the last context window. */
const MAX_MESSAGES = 4096;

/** Maximum calls to remember when checking whether an id is free. */
const MAX_CALLS = 4096;

/** A user message that requests a compaction. */
interface CompactionRequest {
  readonly message: unknown;
  readonly record: string;
  readonly tail: string | undefined;
}

/** Turns stored messages into items. It remembers a bounded number of ids to name records, and no content. */
export class OpencodeDecoder {
  readonly #recent = new RecentMessages();
  readonly #callIds = new CallIds();
  #index = 0;
  #last: string | undefined;
  #compaction: CompactionRequest | undefined;
  #facts: Leftovers = {};
  #revert: JsonObject | undefined;
  #revertTo: string | null | undefined;

  *decode(stored: StoredItem): Generator<Item> {
    for (const item of this.#decodeItem(stored)) {
      if (item.type === "record") this.#last = item.id;
      yield item;
    }
  }

  /** Emits the rewind, which is known only at the end. */
  *end(): Generator<Item> {
    if (this.#revertTo !== undefined) yield { type: "rewind", to: this.#revertTo };
  }

  #decodeItem(stored: StoredItem): Iterable<Item> {
    switch (stored.type) {
      case "problem":
        return [stored];
      case "session":
        return this.#decodeSession(stored.info);
      case "other":
        return [
          buildRawItem(stored.name, stored.value, {
            version: computeFingerprint(JSON.stringify(stored.value)),
          }),
        ];
      case "message":
        return this.#decodeMessage(stored.message);
    }
  }

  *#decodeSession(info: JsonObject): Generator<Item> {
    const time = toObject(info.time);
    const at = toTime(time?.created);
    const { small, large } = splitLeftovers(omitFields(info, ["title"]));
    this.#facts = small ?? {};
    this.#revert = toObject(info.revert);
    const title = toText(info.title);
    yield { type: "session", ...dropUndefined({ title, createdAt: at }), meta: { opencode: this.#facts } };
    if (large) yield buildRawItem("session:extra", large, { at, version: String(time?.updated) });
  }

  *#decodeMessage({ info, parts }: StoredMessage): Generator<Item> {
    const position = `#${this.#index++}`;
    const name = toText(info.id);
    const before = this.#last;
    // A redacted or repeated id cannot name a record.
    const isNamed = name?.startsWith("msg_") === true && !this.#recent.has(name);
    const id = isNamed ? name : position;
    if (isNamed) this.#recent.add(name, before);
    if (this.#revert && name === this.#revert.messageID)
      this.#revertTo = this.#revert.partID === undefined ? (before ?? null) : id;
    const { role } = info;
    if (role !== "user" && role !== "assistant" && role !== "system")
      return yield buildRawItem(id, { info, parts } as unknown as Json, {});
    yield* this.#reportFolders(info);
    const isWhere = JSON.stringify(info.path) === JSON.stringify(this.#facts.path);
    const known = isWhere ? ["path"] : [];
    yield* decodeOpencodeMessage({ id, role, info, known, steps: splitSteps(parts, id, this.#callIds) });
    yield* this.#decodeCompaction(info, parts, id, before);
  }

  /** Reports the working folders once for the session, because every message repeats them. */
  *#reportFolders({ path }: JsonObject): Generator<Item> {
    if (path === undefined || this.#facts.path !== undefined) return;
    this.#facts = { ...this.#facts, path: path as Json };
    yield { type: "session", meta: { opencode: this.#facts } };
  }

  *#decodeCompaction(
    info: JsonObject,
    parts: readonly unknown[],
    id: string,
    before: string | undefined,
  ): Generator<Item> {
    const asked = parts.map(toObject).find((part) => part?.type === "compaction");
    if (info.role === "user" && asked)
      this.#compaction = { message: info.id, record: id, tail: toText(asked.tail_start_id) };
    const isWhole = info.finish !== undefined && info.error === undefined;
    if (info.role !== "assistant" || info.summary !== true || !isWhole) return;
    const spans = this.#findReplacedSpans(info.parentID, before);
    if (spans.length === 0) return;
    const edit = { type: "summarize", spans, record: id } as const;
    const at = toTime(toObject(info.time)?.completed);
    yield buildRecordItem(`${id}:summary`, { kind: "overlay", edit, reason: "compaction" }, { at });
  }

  /** Returns the spans that a summary replaces: everything before it except the tail that the compaction keeps. */
  #findReplacedSpans(question: unknown, before: string | undefined): readonly Span[] {
    const asked = this.#compaction?.message === question ? this.#compaction : undefined;
    if (!asked) return before === undefined ? [] : [{ through: before }];
    if (asked.tail === undefined || !this.#recent.has(asked.tail)) return [{ through: asked.record }];
    const last = this.#recent.findRecordBefore(asked.tail);
    const own = { from: asked.record, through: asked.record };
    return last === undefined ? [own] : [{ through: last }, own];
  }
}

/** The record before each of the latest messages, by opencode's message id. */
class RecentMessages {
  readonly #before = new BoundedMap<string, string | undefined>({ max: MAX_MESSAGES });

  has(message: string): boolean {
    return this.#before.has(message);
  }

  add(message: string, recordBefore: string | undefined): void {
    this.#before.set(message, recordBefore);
  }

  findRecordBefore(message: string): string | undefined {
    return this.#before.get(message);
  }
}

/** A message with its steps. */
interface MessageSteps {
  readonly id: string;
  readonly role: "user" | "assistant" | "system";
  readonly info: JsonObject;
  readonly steps: readonly OpencodeStep[];
  /** Fields of `info` that are already known. */
  readonly known: readonly string[];
}

/** Emits a message step by step: text and calls, usage, then tool results. */
function* decodeOpencodeMessage({ id, role, info, steps, known }: MessageSteps): Generator<Item> {
  const time = toObject(info.time);
  const at = toTime(time?.created);
  const { rest, changes, usages, bytes } = collectLeftovers(role, info, steps, known);
  if (bytes > 0) yield { type: "copy", bytes };
  if (changes) yield buildRawItem(`${id}:changes`, changes, { at, version: hashValue(changes) });
  const who = dropUndefined({ model: toText(info.modelID), provider: toText(info.providerID) });
  let request = 0;
  for (const [index, step] of steps.entries()) {
    const own = index === 0 ? id : `${id}/step${index + 1}`;
    const version = buildVersion(info, step);
    const { small, large } = splitLeftovers(index === 0 ? rest : { message: id });
    if (large) yield buildRawItem(`${own}:extra`, large, { at, version: hashValue(large) });
    const meta = {
      ...small,
      ...(step.rests.length > 0 && { parts: Object.fromEntries(step.rests) }),
      ...(step.marks.length > 0 && { steps: step.marks }),
    };
    const message = {
      role,
      parts: step.parts,
      ...(role === "assistant" && dropUndefined({ model: who.model })),
      ...(Object.keys(meta).length > 0 && { meta: { opencode: meta } }),
    };
    yield buildRecordItem(own, { kind: "message", message }, { at: index === 0 ? at : undefined, version });
    for (const usage of index === 0 ? usages : step.usages) {
      const name = `${id}/${++request}`;
      const ended = step.tools.length === 0 ? toTime(time?.completed) : undefined;
      yield buildRecordItem(
        `${name}:usage`,
        { kind: "usage", usage, ...who, request: name },
        { at: ended ?? at },
      );
    }
    for (const { part, state, callId, place } of step.tools)
      yield* decodeToolResult(part, state, { id: `${place}:result`, callId });
  }
}

interface MessageLeftovers {
  readonly rest: Leftovers;
  /** File changes since the message; opencode updates them as work continues. */
  readonly changes?: Json;
  readonly usages: readonly Usage[];
  /** Bytes that repeat the steps. */
  readonly bytes: number;
}

function collectLeftovers(
  role: MessageSteps["role"],
  info: JsonObject,
  steps: readonly OpencodeStep[],
  known: readonly string[],
): MessageLeftovers {
  const time = toObject(info.time) && omitFields(info.time as JsonObject, ["created"]);
  const others = ["id", "sessionID", "role", "time", ...known];
  const restBesides = (fields: readonly string[]): Leftovers => ({
    ...omitFields(info, [...others, ...fields]),
    ...(time && { time }),
  });
  if (role !== "assistant") {
    const summary = toObject(info.summary);
    if (!summary) return { rest: restBesides([]), usages: [], bytes: 0 };
    const hasChanges = toArray(summary.diffs).length > 0 || omitFields(summary, ["diffs"]) !== undefined;
    return {
      rest: restBesides(["summary"]),
      ...(hasChanges && { changes: summary as Json }),
      usages: [],
      bytes: 0,
    };
  }
  const reported = steps.flatMap(({ usages }) => usages);
  const own = decodeOpencodeUsage(info.tokens, info.cost);
  if (reported.length === 0) {
    const total = findOddTotal(info.tokens);
    const rest = { ...restBesides(["modelID", "tokens", "cost"]), ...dropUndefined({ total }) };
    return { rest, usages: own ? [own] : [], bytes: 0 };
  }
  const usages = steps[0]?.usages ?? [];
  if (!own || !isSumOf(own, reported)) return { rest: restBesides(["modelID"]), usages, bytes: 0 };
  const bytes = Buffer.byteLength(JSON.stringify([info.tokens, info.cost]));
  return { rest: restBesides(["modelID", "tokens", "cost"]), usages, bytes };
}

/** Tells whether a message's usage repeats its steps: tokens of the last step and the cost of all. */
function isSumOf({ cost = 0, ...tokens }: Usage, steps: readonly Usage[]): boolean {
  const { cost: _, ...last } = steps.at(-1) as Usage;
  const spent = steps.reduce((sum, step) => sum + (step.cost ?? 0), 0);
  return Math.abs(spent - cost) < 1e-9 && JSON.stringify(last) === JSON.stringify(tokens);
}

/** Returns a version that changes when the message grows: opencode rewrites it with every streamed piece. */
function buildVersion(info: JsonObject, { parts, words, states }: OpencodeStep): string {
  const completed = toTime(toObject(info.time)?.completed) ?? "";
  const outcome = info.error ? "error" : (toText(info.finish) ?? "");
  return `${completed}:${outcome}:${parts.length}:${words}:${states}`;
}

function hashValue(value: Json): string {
  return computeFingerprint(JSON.stringify(value));
}

interface RecordOptions {
  readonly at?: number | undefined;
  readonly version?: string | undefined;
}

function buildRecordItem(id: string, body: RecordBody, { at, version }: RecordOptions): RecordItem {
  return { type: "record", id, ...dropUndefined({ at, version }), body };
}

/** Builds a raw record. */
function buildRawItem(id: string, value: Json, options: RecordOptions): RecordItem {
  return buildRecordItem(id, { kind: "raw", value }, options);
}

/** A tool call with its result. */
interface EndedTool {
  readonly part: JsonObject;
  readonly state: JsonObject;
  readonly callId: string;
  readonly place: string;
}

/** One request to the model and its outcome. Old versions of opencode put several into one message. */
interface OpencodeStep {
  readonly parts: readonly PartInput[];
  /** Fields that our parts cannot represent, by index of the part. */
  readonly rests: readonly (readonly [index: string, rest: Leftovers])[];
  /** opencode's markers for the start and end of the step. */
  readonly marks: readonly Leftovers[];
  readonly tools: readonly EndedTool[];
  readonly usages: readonly Usage[];
  /** Length of its text and states of its tools, to detect growth. */
  readonly words: number;
  readonly states: string;
}

type OpenStep = {
  -readonly [K in keyof OpencodeStep]: OpencodeStep[K] extends readonly (infer E)[] ? E[] : OpencodeStep[K];
};

/** Splits a message into steps: a new step begins when the model is called again after tools have run. */
function splitSteps(parts: readonly unknown[], message: string, callIds: CallIds): readonly OpencodeStep[] {
  let step = createStep();
  const steps = [step];
  const places = new Set<string>();
  for (const [index, value] of parts.entries()) {
    const part = toObject(value);
    if (part?.type === "step-start" && step.parts.some(({ type }) => type === "tool-call")) {
      step = createStep();
      steps.push(step);
    }
    if (part?.type === "step-start" || part?.type === "step-finish") {
      markStep(part, step);
      continue;
    }
    const isTool = part?.type === "tool";
    const place = `${message}/${choosePlace(part, index, places)}`;
    const callId = isTool ? callIds.assignId(part.callID, place) : "";
    const found = isTool ? decodeOpencodeCall(part, callId) : decodeOpencodePart(value);
    if (found.rest) step.rests.push([String(step.parts.length), found.rest]);
    step.parts.push(found.part);
    if (typeof part?.text === "string") step.words += part.text.length;
    if (!isTool) continue;
    const state = toObject(part.state) ?? {};
    step.states += String(state.status).slice(0, 1);
    if (isEnded(state)) step.tools.push({ part, state, callId, place });
  }
  return steps;
}

function createStep(): OpenStep {
  return { parts: [], rests: [], marks: [], tools: [], usages: [], words: 0, states: "" };
}

function markStep(part: JsonObject, step: OpenStep): void {
  const mark = omitFields(part, ["messageID", "sessionID", "tokens", "cost"]);
  if (mark) step.marks.push({ ...mark, ...dropUndefined({ total: findOddTotal(part.tokens) }) });
  const usage = part.type === "step-finish" ? decodeOpencodeUsage(part.tokens, part.cost) : undefined;
  if (usage) step.usages.push(usage);
}

/** Returns opencode's part id, or the index if the id is unusable. */
function choosePlace(part: JsonObject | undefined, index: number, places: Set<string>): string {
  const id = part?.id;
  const isGood = typeof id === "string" && id.startsWith("prt_") && !places.has(id);
  const place = isGood ? id : String(index);
  places.add(place);
  return place;
}

/**
 * Gives every tool call a unique id, so results find their calls: opencode's own id, or the call's place if that id was
 * used before. Some providers count from zero in each message, and ids may be redacted.
 */
class CallIds {
  readonly #used = new BoundedMap<string, true>({ max: MAX_CALLS });

  assignId(callId: unknown, place: string): string {
    const isFree = typeof callId === "string" && callId !== "" && !this.#used.has(callId);
    const id = isFree ? callId : place;
    this.#used.set(id, true);
    return id;
  }
}

/** Converts tokens and cost of a step or message; undefined if all are zero. */
function decodeOpencodeUsage(tokens: unknown, cost: unknown): Usage | undefined {
  const fields = toObject(tokens);
  const cache = toObject(fields?.cache);
  const reasoning = toNumber(fields?.reasoning);
  const counts = {
    inputTokens: toNumber(fields?.input),
    outputTokens: toNumber(fields?.output),
    cacheReadTokens: toNumber(cache?.read),
    cacheWriteTokens: toNumber(cache?.write),
  };
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = counts;
  const sum = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  // Most versions include reasoning in the output; it is added if the total or the counts show otherwise.
  const isApart =
    reasoning !== undefined &&
    reasoning > 0 &&
    (fields?.total === sum + reasoning || reasoning > outputTokens);
  const usage = dropUndefined({
    ...counts,
    outputTokens: isApart ? outputTokens + reasoning : counts.outputTokens,
    reasoningTokens: reasoning,
    cost: toNumber(cost),
  });
  return Object.values(usage).some((count) => count !== 0) ? usage : undefined;
}

/** Returns the reported total if it does not follow from the counts. */
function findOddTotal(tokens: unknown): number | undefined {
  const fields = toObject(tokens);
  const cache = toObject(fields?.cache);
  const total = toNumber(fields?.total);
  const counts = [fields?.input, fields?.output, cache?.read, cache?.write];
  const sum = counts.reduce<number>((all, count) => all + (toNumber(count) ?? 0), 0);
  return total === sum || total === sum + (toNumber(fields?.reasoning) ?? 0) ? undefined : total;
}
