import { basename, dirname, join } from "node:path";
import type { Json, MessageInput, ReasoningPart, Usage } from "../../kernel/index.ts";
import { computeFingerprint } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { SUM_META } from "../../model/usage.ts";
import { toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { splitLeftovers } from "../content/leftovers.ts";
import { nonEmptyFields } from "../content/non-empty-fields.ts";
import { buildFileSource, type Format, type ImportSource } from "../port/format.ts";
import { decodeLines, type LineDecoder, type LineRecord } from "../reading/decode-lines.ts";
import type { FileFacts } from "../reading/folder.ts";
import type { Item, RecordItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";
import { Assets } from "./assets.ts";
import {
  buildEventRecord,
  buildRawEventRecord,
  type CopilotEvent,
  isCopilotEvent,
  toCopilotEvent,
} from "./copilot-event.ts";
import {
  type CopilotMessage,
  decodeAssistantMessage,
  decodeSystemMessage,
  decodeToolRequest,
  decodeToolResultMessage,
  decodeUserMessage,
} from "./copilot-messages.ts";

/** Sessions of GitHub Copilot CLI: one stream of events each, `<id>/events.jsonl` or `<id>.jsonl`. */
export const copilotCliFormat: Format = {
  name: "copilot-cli",
  title: "GitHub Copilot CLI",
  processes: ["copilot"],
  homes({ home, env }) {
    return [join(toText(env.COPILOT_HOME) ?? join(home, ".copilot"), "session-state")];
  },
  async detect(folder) {
    const sources: ImportSource[] = [];
    for (const file of folder.files) {
      if (!file.name.endsWith(".jsonl")) continue;
      const [line = ""] = (await folder.head(file)).trimStart().split("\n", 1);
      const first = toObject(parseCutJson(line));
      if (first && isCopilotEvent(first)) sources.push(buildSource(file, first));
    }
    return sources;
  },
  read({ path }, input) {
    return decodeLines(input, path, (state) => new EventDecoder(state));
  },
};

function buildSource(file: FileFacts, first: JsonObject): ImportSource {
  const { path, name } = file;
  const data = first.type === "session.start" ? (toObject(first.data) ?? {}) : {};
  const named = name === "events.jsonl" ? basename(dirname(path)) : name.replace(/\.jsonl$/, "");
  const cwd = toText(toObject(data.context)?.cwd);
  return buildFileSource("copilot-cli", file, { id: toText(data.sessionId) ?? named, cwd });
}

const DECODED_FIELDS = ["success", "summaryContent", "preCompactionTokens", "postCompactionTokens"];

const MAX_MODELS = 64;

/** State carried from event to event. */
interface CarriedState {
  /** Id of the conversation's last record; "" if none. */
  last: string;
  /** Fingerprint of the system prompt, which is repeated. */
  system?: string;
  /** Fields of the last assistant message that events about its calls repeat. */
  said: { readonly [field: string]: Json };
  /** Recent calls with fingerprints of their arguments. */
  calls: readonly (readonly [callId: string, print: string])[];
  /** Recent user messages, each with the record before it. */
  asked: readonly (readonly [id: string, before: string])[];
  /** Last record before a running compaction; later records stay in the window. */
  compactedThrough?: string;
  output: ReportedOutput;
}

/** Reasoning from separate events, held until the model's message. */
interface HeldReasoning {
  readonly event: CopilotEvent;
  readonly parts: ReasoningPart[];
}

const MAX_CALLS = 256;
const MAX_USER_MESSAGES = 1_000;
const MAX_THOUGHTS = 32;

class EventDecoder implements LineDecoder {
  readonly #carried: CarriedState;
  readonly #assets = new Assets();
  #thoughts: HeldReasoning | undefined;

  constructor(saved: Json | undefined) {
    const state = saved as unknown as CarriedState | undefined;
    this.#carried = { last: "", said: {}, calls: [], asked: [], output: {}, ...state };
  }

  get isSettled(): boolean {
    return this.#assets.isEmpty && this.#thoughts === undefined;
  }

  state(): Json {
    return { ...this.#carried } as unknown as Json;
  }

  *decode(record: LineRecord): Generator<Item> {
    for (const item of this.#decodeEvent(toCopilotEvent(record))) {
      if (item.type === "record" && item.child === undefined) this.#carried.last = item.id;
      yield item;
    }
  }

  *end(): Generator<Item> {
    yield* this.#release();
    for (const event of this.#assets.takeRest()) yield buildRawEventRecord(event);
  }

  #decodeEvent(event: CopilotEvent): Iterable<Item> {
    const { data, type } = event;
    switch (type) {
      case "session.start":
        return decodeSessionStart(event);
      case "session.title_changed":
        return [{ type: "session", ...dropUndefined({ title: toText(data.title), child: event.child }) }];
      case "session.resume":
        this.#carried.output = {};
        return [buildRawEventRecord(event)];
      case "system.message":
        return this.#takeSystem(event);
      case "user.message":
        return this.#takeUser(event);
      case "assistant.reasoning":
        return this.#holdReasoning(event);
      case "assistant.message":
        return this.#takeAssistant(event);
      case "tool.user_requested":
      case "tool.execution_start":
        return this.#takeCall(event);
      case "tool.execution_complete":
        return buildMessageItems(event, decodeToolResultMessage(data, this.#assets));
      case "session.binary_asset":
        return [...this.#assets.add(event)].map((late) => buildRawEventRecord(late));
      case "session.compaction_start":
        if (event.child === undefined) this.#carried.compactedThrough = this.#carried.last;
        return [buildRawEventRecord(event)];
      case "session.compaction_complete":
        return this.#compact(event);
      case "session.context_cleared":
        return decodeClearing(event);
      case "session.snapshot_rewind":
        return this.#rewind(event);
      case "session.shutdown":
        return this.#takeShutdown(event);
      case "session.error":
      case "session.warning":
      case "session.info":
        return decodeNotice(event);
      default:
        return [buildRawEventRecord(event)];
    }
  }

  *#takeSystem(event: CopilotEvent): Generator<Item> {
    const print = computeFingerprint(JSON.stringify(event.data));
    if (event.child === undefined && print === this.#carried.system)
      yield { type: "copy", bytes: event.sizeBytes };
    else yield* buildMessageItems(event, decodeSystemMessage(event.data));
    if (event.child === undefined) this.#carried.system = print;
  }

  *#takeUser(event: CopilotEvent): Generator<Item> {
    yield* this.#release();
    const { asked, last } = this.#carried;
    if (event.child === undefined)
      this.#carried.asked = [...asked, [event.id, last] as const].slice(-MAX_USER_MESSAGES);
    yield* buildMessageItems(event, decodeUserMessage(event.data, this.#assets));
  }

  *#holdReasoning(event: CopilotEvent): Generator<Item> {
    const text = toText(event.data.content);
    if (text === undefined) {
      yield buildRawEventRecord(event);
      return;
    }
    const isOther = this.#thoughts?.event.child !== event.child;
    if (isOther || (this.#thoughts?.parts.length ?? 0) >= MAX_THOUGHTS) yield* this.#release();
    this.#thoughts ??= { event, parts: [] };
    this.#thoughts.parts.push({ type: "reasoning", text });
  }

  /** Gives an assistant message the id of its first event. */
  *#takeAssistant(event: CopilotEvent): Generator<Item> {
    const { data } = event;
    if (this.#thoughts?.event.child !== event.child) yield* this.#release();
    const thoughts = this.#thoughts;
    this.#thoughts = undefined;
    for (const item of buildMessageItems(event, decodeAssistantMessage(data, thoughts?.parts ?? [])))
      yield thoughts && item.type === "record" && item.id === event.id
        ? { ...item, id: thoughts.event.id, version: "whole" }
        : item;
    for (const request of toArray(data.toolRequests)) this.#rememberCall(request);
    const { model, interactionId, turnId } = data;
    this.#carried.said = nonEmptyFields({ model, interactionId, turnId }, []) ?? {};
    this.#carried.output = addOutput(this.#carried.output, event);
    const usage = decodeMessageUsage(event);
    if (usage) yield usage;
  }

  *#release(): Generator<Item> {
    const thoughts = this.#thoughts;
    this.#thoughts = undefined;
    if (!thoughts) return;
    const { event, parts } = thoughts;
    const record = buildEventRecord(event, { kind: "message", message: { role: "assistant", parts } });
    yield { ...record, version: `${parts.length} parts` };
  }

  /** Decodes the start of a call, which the model announced before or the user requested. */
  *#takeCall(event: CopilotEvent): Generator<Item> {
    const { part, extra = {} } = decodeToolRequest(event.data);
    if (part.type !== "tool-call") {
      yield buildRawEventRecord(event);
      return;
    }
    const { calls, said } = this.#carried;
    const print = fingerprintInput(part.input);
    if (!calls.some(([callId, known]) => callId === part.callId && known === print)) {
      const meta = { "copilot-cli": { event: event.type, ...extra } };
      const message: MessageInput = { role: "assistant", parts: [part], meta };
      yield buildEventRecord(event, { kind: "message", message });
      this.#rememberCall(event.data);
      return;
    }
    const news = Object.entries(extra).filter(
      ([name, value]) => name !== "parentToolCallId" && said[name] !== value,
    );
    const isCopy = news.length === 0;
    yield { type: "copy", bytes: isCopy ? event.sizeBytes : Buffer.byteLength(JSON.stringify(part.input)) };
    if (!isCopy) yield buildRawEventRecord(event, { toolCallId: part.callId, ...Object.fromEntries(news) });
  }

  #rememberCall(request: unknown): void {
    const { part } = decodeToolRequest(request);
    if (part.type !== "tool-call") return;
    const call = [part.callId, fingerprintInput(part.input)] as const;
    this.#carried.calls = [...this.#carried.calls, call].slice(-MAX_CALLS);
  }

  *#compact(event: CopilotEvent): Generator<Item> {
    if (event.child !== undefined) {
      yield* decodeCopilotCompaction(event, undefined);
      return;
    }
    yield* decodeCopilotCompaction(event, this.#carried.compactedThrough || undefined);
    delete this.#carried.compactedThrough;
  }

  /** Rewinds to before a user message; a message that is already gone from the file needs no rewind. */
  *#rewind(event: CopilotEvent): Generator<Item> {
    const { asked } = this.#carried;
    const index = asked.findIndex(([id]) => id === event.data.upToEventId);
    const before = asked[index]?.[1];
    if (before !== undefined && event.child === undefined) {
      this.#carried.asked = asked.slice(0, index);
      yield { type: "rewind", to: before || null };
    }
    yield buildRawEventRecord(event);
  }

  *#takeShutdown(event: CopilotEvent): Generator<Item> {
    yield* decodeShutdownUsage(event, this.#carried.output);
    this.#carried.output = {};
    yield buildRawEventRecord(event);
  }
}

function fingerprintInput(input: Json): string {
  return computeFingerprint(JSON.stringify(input));
}

function* buildMessageItems(event: CopilotEvent, spoken: CopilotMessage | undefined): Generator<Item> {
  if (!spoken) {
    yield buildRawEventRecord(event);
    return;
  }
  yield buildEventRecord(event, { kind: "message", message: spoken.message });
  if (spoken.large) yield buildRawEventRecord(event, spoken.large, ":extra");
  if (spoken.copiedBytes) yield { type: "copy", bytes: spoken.copiedBytes };
}

/** Decodes the description of the session. */
function* decodeSessionStart(event: CopilotEvent): Generator<Item> {
  const { data, child } = event;
  const { small = {}, large } = splitLeftovers(nonEmptyFields(data, []));
  const createdAt = toTime(data.startTime);
  yield { type: "session", ...dropUndefined({ child, createdAt }), meta: { "copilot-cli": small } };
  if (large) yield buildRawEventRecord(event, large);
}

/** Decodes a message from Copilot to the user. */
function* decodeNotice(event: CopilotEvent): Generator<Item> {
  const text = toText(event.data.message);
  if (text === undefined) {
    yield buildRawEventRecord(event);
    return;
  }
  yield buildEventRecord(event, { kind: "notice", text });
  const rest = nonEmptyFields(event.data, ["message"]);
  if (rest) yield buildRawEventRecord(event, rest, ":extra");
}

/** Decodes a cleared conversation: everything before it leaves the window. */
function* decodeClearing(event: CopilotEvent): Generator<Item> {
  yield buildEventRecord(event, { kind: "overlay", edit: { type: "hide", spans: [{}] }, reason: "cleared" });
  const rest = nonEmptyFields(event.data, []);
  if (rest) yield buildRawEventRecord(event, rest, ":extra");
}

/** Decodes a compaction: a summary replaces everything through a record. A failed compaction changes nothing. */
function* decodeCopilotCompaction(event: CopilotEvent, through: string | undefined): Generator<Item> {
  const { data, at } = event;
  const summary = toText(data.summaryContent);
  if (data.success === false || summary === undefined) yield buildRawEventRecord(event);
  else {
    yield buildEventRecord(event, {
      kind: "overlay",
      edit: {
        type: "summarize",
        spans: [dropUndefined({ through })],
        messages: [{ role: "user", text: summary }],
      },
      reason: "compaction",
      ...dropUndefined({
        madeAt: at,
        tokensBefore: toNumber(data.preCompactionTokens),
        tokensAfter: toNumber(data.postCompactionTokens),
      }),
    });
    const rest = nonEmptyFields(data, DECODED_FIELDS);
    if (rest) yield buildRawEventRecord(event, rest, ":extra");
  }
  const usage = decodeCompactionUsage(event);
  if (usage) yield usage;
}

/** Output tokens by model that messages have reported since the session was started or resumed. */
type ReportedOutput = { readonly [model: string]: number };

/** Reads the usage of a message: only its output. The rest is reported at shutdown. */
function decodeMessageUsage(event: CopilotEvent): RecordItem | undefined {
  const outputTokens = toNumber(event.data.outputTokens);
  if (outputTokens === undefined) return undefined;
  const [model, request] = [toText(event.data.model), toText(event.data.apiCallId)];
  return buildEventRecord(
    event,
    { kind: "usage", usage: { outputTokens }, ...dropUndefined({ model, request }) },
    ":usage",
  );
}

/** Adds the output of a message to the sum. */
function addOutput(before: ReportedOutput, { data }: CopilotEvent): ReportedOutput {
  const [model, count] = [toText(data.model), toNumber(data.outputTokens)];
  if (model === undefined || count === undefined) return before;
  if (!Object.hasOwn(before, model) && Object.keys(before).length >= MAX_MODELS) return before;
  const sums = new Map(Object.entries(before));
  return Object.fromEntries(sums.set(model, (sums.get(model) ?? 0) + count));
}

/** Reads the usage reported at shutdown, minus the output that messages have reported. */
function* decodeShutdownUsage(event: CopilotEvent, soFar: ReportedOutput): Generator<RecordItem> {
  for (const [model, value] of Object.entries(toObject(event.data.modelMetrics) ?? {})) {
    const counts = toObject(toObject(value)?.usage);
    if (!counts) continue;
    const usage = toUsage(counts);
    const known = Object.hasOwn(soFar, model) ? (soFar[model] ?? 0) : 0;
    const outputTokens = Math.max(0, (usage.outputTokens ?? 0) - known);
    yield buildEventRecord(
      event,
      { kind: "usage", usage: { ...usage, outputTokens }, model, meta: SUM_META },
      `:usage:${model}`,
    );
  }
}

/** Reads the usage of a compaction itself. */
function decodeCompactionUsage(event: CopilotEvent): RecordItem | undefined {
  const counts = toObject(event.data.compactionTokensUsed);
  if (!counts) return undefined;
  const [model, request] = [toText(counts.model), toText(event.data.requestId)];
  return buildEventRecord(
    event,
    { kind: "usage", usage: toUsage(counts), ...dropUndefined({ model, request }) },
    ":usage",
  );
}

/** Converts usage: Copilot counts cache reads and writes as input, whatever the provider. */
function toUsage(counts: JsonObject): Usage {
  const input = toNumber(counts.inputTokens) ?? toNumber(counts.input);
  const cacheReadTokens = toNumber(counts.cacheReadTokens) ?? toNumber(counts.cachedInput);
  const cacheWriteTokens = toNumber(counts.cacheWriteTokens);
  const cached = (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
  return dropUndefined({
    inputTokens: input === undefined ? undefined : Math.max(0, input - cached),
    outputTokens: toNumber(counts.outputTokens) ?? toNumber(counts.output),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: toNumber(counts.reasoningTokens),
  });
}
