import type { Json, MessageInput, Usage } from "../../kernel/index.ts";
import { computeFingerprint } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { parseJson } from "../../model/base/parse-json.ts";
import { ADDED_TAGS, getTagNames } from "../../model/message-tags.ts";
import { toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { isEmpty, nonEmptyFields } from "../content/non-empty-fields.ts";
import { addFacts, NO_FACTS, type SessionFacts } from "../content/session-facts.ts";
import { KnownPrints } from "../deduplication/known-prints.ts";
import type { LineDecoder, LineRecord } from "../reading/decode-lines.ts";
import type { Item, RecordBody } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { Outbox } from "./outbox.ts";
import { decodeHistory, decodeResponseItem, getItemTexts, type ItemContext } from "./response-items.ts";
import {
  addLineMetadata,
  buildRawRolloutRecord,
  buildRolloutMessage,
  buildRolloutRecord,
  type RolloutLine,
  toRolloutLine,
} from "./rollout-line.ts";
import { buildPhaseKey, findAwaitedItem, stripKnownTexts } from "./stripped-event.ts";

/** Maximum user turns to remember for rollbacks. */
const MAX_TURNS = 10_000;

/** Prefixes of context that Codex sends in the user's name. */
const CONTEXT_MARKS = [
  "# AGENTS.md instructions",
  ...getTagNames(ADDED_TAGS, "turn").map((name) => `<${name}>`),
  ...getTagNames(ADDED_TAGS, "turn with attributes").map((name) => `<${name}`),
];

/** State carried from line to line, apart from held items. */
interface CarriedState {
  thread?: string;
  model?: string;
  turnId?: string;
  /** Fingerprint of the last turn's settings, without its id. */
  settings?: string;
  /** Ordinal where the thread's own history begins; earlier lines are copied from its parent. */
  ownFrom?: number;
  facts: SessionFacts;
  usage: UsageState;
  /** The latest calls with output. */
  answered: readonly string[];
}

interface RolloutState extends CarriedState {
  readonly last: string;
  readonly hasMessages: boolean;
  readonly texts: readonly string[];
  readonly turns: readonly string[];
  readonly droppedTurns: number;
}

/** Number of texts to remember: an event repeats text within a few lines. */
const MAX_TEXTS = 128;
const MAX_ANSWERED = 64;

export class RolloutDecoder implements LineDecoder {
  readonly #path: string;
  readonly #carried: CarriedState;
  readonly #knownTexts: KnownPrints;
  readonly #turns: UserTurns;
  readonly #outbox: Outbox;

  constructor(path: string, saved: Json | undefined) {
    const state = saved as unknown as RolloutState | undefined;
    const { last = "", hasMessages = false, texts, turns, droppedTurns, ...carried } = state ?? {};
    this.#path = path;
    this.#carried = { facts: NO_FACTS, usage: {}, answered: [], ...carried };
    this.#knownTexts = new KnownPrints(MAX_TEXTS, texts);
    this.#turns = new UserTurns(turns, droppedTurns);
    this.#outbox = new Outbox(this.#knownTexts, { last, hasMessages });
  }

  get isSettled(): boolean {
    return this.#outbox.isSettled;
  }

  state(): Json {
    const state: RolloutState = {
      ...this.#carried,
      last: this.#outbox.last,
      hasMessages: this.#outbox.hasMessages,
      texts: this.#knownTexts.toJSON(),
      turns: [...this.#turns.precedingRecords],
      droppedTurns: this.#turns.dropped,
    };
    return state as unknown as Json;
  }

  decode(record: LineRecord): readonly Item[] {
    this.#decodeLine(toRolloutLine(record));
    return this.#outbox.takeItems();
  }

  end(): readonly Item[] {
    this.#outbox.finish();
    return this.#outbox.takeItems();
  }

  #decodeLine(line: RolloutLine): void {
    switch (line.type) {
      case "session_meta":
        this.#describe(line);
        break;
      case "response_item":
        this.#takeItem(line);
        break;
      case "turn_context":
        this.#beginTurn(line);
        break;
      case "compacted":
        this.#compact(line);
        break;
      case "event_msg":
        this.#takeEvent(line);
        break;
      default:
        this.#outbox.addItem(buildRawRolloutRecord(line));
    }
  }

  #describe(line: RolloutLine): void {
    const { payload } = line;
    const thread = toText(payload.id);
    // In a forked thread, the description of its origin follows its own.
    if (this.#carried.thread !== undefined && thread !== undefined && thread !== this.#carried.thread) {
      this.#outbox.addItem(buildRawRolloutRecord(line));
      return;
    }
    if (this.#carried.thread === undefined) this.#reportBase(line);
    const ownFrom = toNumber(payload.subagent_history_start_ordinal);
    const { facts, isChanged, large } = addFacts(this.#carried.facts, payload);
    Object.assign(this.#carried, dropUndefined({ thread, ownFrom }), { facts });
    const createdAt = toTime(facts.small.timestamp);
    if (isChanged)
      this.#outbox.addItem({
        type: "session",
        ...dropUndefined({ createdAt }),
        meta: { codex: facts.small },
      });
    if (large) this.#outbox.addItem(buildRawRolloutRecord(line, large));
    if (!isChanged && !large) this.#outbox.addItem({ type: "copy", bytes: line.sizeBytes });
  }

  /** Reports a reverted or forked thread that continues from another file. */
  #reportBase({ payload, line }: RolloutLine): void {
    const base = toObject(payload.history_base);
    if (!base) return;
    const { thread_id: rollout, end_ordinal_exclusive: end } = base;
    const reason = `goes on from record ${end} of rollout ${rollout}; what was before is in that file`;
    this.#outbox.addItem({ type: "problem", path: this.#path, line, severity: "damaged", reason });
  }

  #takeItem(line: RolloutLine): void {
    const { payload, id } = line;
    const { model, turnId } = this.#carried;
    rememberItem(payload, this.#knownTexts);
    const meaning = decodeResponseItem(payload, { id, model, turnId });
    if (meaning.kind === "reasoning") this.#outbox.holdReasoning(line, meaning.part, model);
    else if (meaning.kind === "other") {
      this.#outbox.release();
      this.#outbox.addItem(buildRawRolloutRecord(line));
    } else {
      this.#takeMessage(line, addLineMetadata(meaning.message, line));
      if (meaning.results) this.#outbox.addMessage(buildRolloutMessage(line, meaning.results, ":results"));
    }
  }

  #takeMessage(line: RolloutLine, message: MessageInput): void {
    const record = buildRolloutMessage(line, message);
    const callId = toText(line.payload.call_id);
    if (message.role === "assistant") this.#outbox.addModelMessage(record, message);
    else if (message.role === "tool" && callId !== undefined) {
      this.#carried.answered = [...this.#carried.answered, callId].slice(-MAX_ANSWERED);
      this.#outbox.addToolOutput(record, callId);
    } else {
      this.#outbox.release();
      if (isTurnStart(line.payload)) this.#turns.beginTurn(this.#outbox.last);
      this.#outbox.addMessage(record);
    }
  }

  /** Every turn repeats the settings; only changes are kept. */
  #beginTurn(line: RolloutLine): void {
    const { turn_id: turnId, ...rest } = line.payload;
    const settings = computeFingerprint(JSON.stringify(rest));
    const isSame = settings === this.#carried.settings;
    const isNamed = turnId === undefined || turnId === this.#carried.turnId;
    const model = toText(rest.model);
    Object.assign(this.#carried, dropUndefined({ settings, model, turnId: toText(turnId) }));
    if (!isSame) this.#outbox.addItem(buildRawRolloutRecord(line));
    else if (!isNamed) this.#outbox.addItem(buildRawRolloutRecord(line, { turn_id: turnId }));
    else this.#outbox.addItem({ type: "copy", bytes: line.sizeBytes });
  }

  #compact(line: RolloutLine): void {
    this.#outbox.release();
    const { id } = line;
    if (!this.#outbox.hasMessages)
      for (const item of buildLossItems(line, this.#path)) this.#outbox.addItem(item);
    for (const item of decodeCodexCompaction(line, { id, turnId: this.#carried.turnId }))
      this.#outbox.addItem(item);
  }

  #takeEvent(line: RolloutLine): void {
    const { payload } = line;
    switch (payload.type) {
      case "token_count":
        this.#countTokens(line);
        break;
      case "thread_rolled_back":
        this.#rollBack(line);
        break;
      case "error":
      case "warning":
      case "stream_error":
        this.#takeNotice(line);
        break;
      case "context_compacted":
        // Confirms the preceding compaction.
        if (Object.keys(payload).length > 1) this.#outbox.addItem(buildRawRolloutRecord(line));
        else this.#outbox.addItem({ type: "copy", bytes: line.sizeBytes });
        break;
      case "thread_name_updated":
        this.#outbox.addItem({ type: "session", ...dropUndefined({ title: toText(payload.thread_name) }) });
        this.#outbox.addItem(buildRawRolloutRecord(line));
        break;
      case "task_started":
      case "turn_started":
        Object.assign(this.#carried, dropUndefined({ turnId: toText(payload.turn_id) }));
        this.#outbox.addItem(buildRawRolloutRecord(line));
        break;
      default:
        this.#takeRepeatingEvent(line);
    }
  }

  /** Decodes an event that may repeat items before or after it. */
  #takeRepeatingEvent(line: RolloutLine): void {
    const awaited = findAwaitedItem(line.payload);
    const rest = stripKnownTexts(line.payload, this.#knownTexts);
    const { callId } = awaited ?? {};
    const isLate = callId === undefined ? rest.isKnown : this.#carried.answered.includes(callId);
    if (awaited && !isLate) this.#outbox.holdEvent(line, callId);
    else this.#outbox.addEvent(line, rest);
  }

  #countTokens(line: RolloutLine): void {
    const { ownFrom, usage, model } = this.#carried;
    if (ownFrom !== undefined && line.ordinal !== undefined && line.ordinal < ownFrom) {
      // The parent thread used these tokens and reports them itself.
      this.#outbox.addItem(buildRawRolloutRecord(line));
      return;
    }
    const { state, body } = decodeTokenReport(line.payload, usage, model);
    this.#carried.usage = state;
    this.#outbox.addItem(body ? buildRolloutRecord(line, body) : { type: "copy", bytes: line.sizeBytes });
  }

  #rollBack(line: RolloutLine): void {
    this.#outbox.release();
    const count = toNumber(line.payload.num_turns) ?? 0;
    const back = this.#turns.rollBack(count);
    if (back) this.#outbox.addItem({ type: "rewind", to: back.to });
    if (back && !back.isExact) {
      const reason = `takes ${count} turns back, more than are remembered`;
      this.#outbox.addItem({
        type: "problem",
        path: this.#path,
        line: line.line,
        severity: "damaged",
        reason,
      });
    }
    this.#outbox.addItem(buildRawRolloutRecord(line));
  }

  #takeNotice(line: RolloutLine): void {
    const text = toText(line.payload.message);
    const rest = nonEmptyFields(line.payload, ["type", "message"]);
    if (text !== undefined) this.#outbox.addItem(buildRolloutRecord(line, { kind: "notice", text }));
    if (text === undefined) this.#outbox.addItem(buildRawRolloutRecord(line));
    else if (rest) this.#outbox.addItem(buildRawRolloutRecord(line, rest, ":extra"));
  }
}

/** Decodes a compaction: everything before it leaves the window in favor of the replacement history. */
function* decodeCodexCompaction(line: RolloutLine, context: ItemContext): Generator<Item> {
  const { payload, at } = line;
  const hasHistory = Array.isArray(payload.replacement_history);
  const messages = hasHistory
    ? decodeHistory(payload.replacement_history, context)
    : [{ role: "user", text: toText(payload.message) ?? "" } as const];
  yield buildRolloutRecord(line, {
    kind: "overlay",
    edit: { type: "summarize", spans: [{}], messages },
    reason: "compaction",
    ...dropUndefined({ madeAt: at }),
  });
  const rest = nonEmptyFields(payload, [hasHistory ? "replacement_history" : "message"]);
  if (rest) yield buildRawRolloutRecord(line, rest, ":extra");
}

/** Reports a rollout that begins with a compaction. The notice gives the summary something to replace. */
function* buildLossItems(line: RolloutLine, path: string): Generator<Item> {
  const reason = "begins with a compaction; the turns before it are gone";
  yield { type: "problem", path, line: line.line, severity: "damaged", reason };
  yield buildRolloutRecord(line, { kind: "notice", text: `This rollout ${reason}.` }, ":loss");
}

/** Remembers the texts of an item in all forms in which events repeat them. */
function rememberItem(item: JsonObject, known: KnownPrints): void {
  const texts = [...getItemTexts(item.content), ...getItemTexts(item.summary)];
  for (const text of texts) known.add(text);
  if (texts.length > 1) for (const joint of ["", "\n", "\n\n"]) known.add(texts.join(joint));
  const phase = toText(item.phase);
  if (phase !== undefined) for (const text of texts) known.add(buildPhaseKey(text, phase));
  for (const content of toArray(item.content)) known.add(toText(toObject(content)?.image_url) ?? "");
  for (const output of listOutputForms(item.output)) known.add(output);
  if (toObject(item.action)) known.add(JSON.stringify(item.action));
  known.add(toText(item.result) ?? "");
  known.add(toText(item.revised_prompt) ?? "");
  if (item.name === "apply_patch")
    for (const file of findAddedFiles(toText(item.input) ?? "")) known.add(file);
}

/** Returns the contents of files that a patch adds; their lines begin with "+". */
function findAddedFiles(patch: string): readonly string[] {
  return patch
    .split(/^\*\*\* /m)
    .filter((section) => section.startsWith("Add File: "))
    .map((section) => {
      const lines = section.split("\n").filter((line) => line.startsWith("+"));
      return lines.map((line) => `${line.slice(1)}\n`).join("");
    });
}

/** Returns an output with and without Codex's leading lines, and unwrapped from the JSON of older versions. */
function listOutputForms(output: unknown): readonly string[] {
  const text = typeof output === "string" ? output : toText(toObject(output)?.content);
  if (text === undefined) return getItemTexts(output);
  const mark = text.indexOf("Output:\n");
  const bodies = mark < 0 ? [] : [text.slice(mark + "Output:\n".length)];
  const inner = text.startsWith('{"output"') ? unwrapOutput(text) : undefined;
  return [text, ...bodies, ...(inner === undefined ? [] : [inner])];
}

function unwrapOutput(text: string): string | undefined {
  try {
    return toText(toObject(parseJson(text))?.output);
  } catch {
    return undefined;
  }
}

/** True for a message that the user wrote; only those count when turns are rolled back. */
function isTurnStart(item: JsonObject): boolean {
  if (item.type !== "message" || item.role !== "user") return false;
  return !toArray(item.content).some((content) => {
    const text = toText(toObject(content)?.text)?.trimStart();
    return text !== undefined && CONTEXT_MARKS.some((mark) => text.startsWith(mark));
  });
}

/** The records before each user turn, oldest first; "" for the beginning. */
class UserTurns {
  readonly #before: string[];
  #dropped: number;

  constructor(before: readonly string[] = [], dropped = 0) {
    this.#before = [...before];
    this.#dropped = dropped;
  }

  beginTurn(after: string): void {
    this.#before.push(after);
    if (this.#before.length <= MAX_TURNS) return;
    this.#before.shift();
    this.#dropped++;
  }

  /** Removes the last turns and returns the record to rewind to; undefined if there are no turns. */
  rollBack(count: number): { readonly to: string | null; readonly isExact: boolean } | undefined {
    if (!Number.isSafeInteger(count) || count < 1 || this.#before.length === 0) return undefined;
    const isExact = count <= this.#before.length || this.#dropped === 0;
    const index = Math.max(0, this.#before.length - count);
    const to = this.#before[index] || null;
    this.#before.length = index;
    return { to, isExact };
  }

  get precedingRecords(): readonly string[] {
    return this.#before;
  }

  get dropped(): number {
    return this.#dropped;
  }
}

/** The last report, to recognize repeats. */
type UsageState = {
  /** The running total as JSON. */
  readonly total?: string;
  readonly last?: string;
  readonly limits?: string;
  readonly window?: number;
};

/** Result of decoding a token report. */
interface TokenReport {
  readonly state: UsageState;
  /** Undefined if the report has nothing new. */
  readonly body?: RecordBody;
}

/** Decodes a token report. It counts as a request only if the running total has changed. */
function decodeTokenReport(payload: JsonObject, before: UsageState, model?: string): TokenReport {
  const info = toObject(payload.info);
  const last = toObject(info?.last_token_usage);
  const total = toObject(info?.total_token_usage);
  const limits = isEmpty(payload.rate_limits)
    ? undefined
    : computeFingerprint(JSON.stringify(payload.rate_limits));
  const window = toNumber(info?.model_context_window);
  const state: UsageState = dropUndefined({
    total: total ? JSON.stringify(total) : before.total,
    last: last ? JSON.stringify(last) : before.last,
    limits: limits ?? before.limits,
    window: window ?? before.window,
  });
  const isRequest = last !== undefined && (total === undefined || state.total !== before.total);
  const news = {
    ...nonEmptyFields(payload, ["type", "info", "rate_limits"]),
    ...(info && nonEmptyFields(info, ["last_token_usage", "total_token_usage", "model_context_window"])),
    ...(state.limits !== before.limits && { rate_limits: payload.rate_limits as Json }),
    ...(state.window !== before.window && window !== undefined && { model_context_window: window }),
    ...(total && isRequest && !isSum(total, last, before) && { total_token_usage: total as Json }),
    ...(last && !isRequest && state.last !== before.last && { last_token_usage: last as Json }),
  };
  const hasNews = Object.keys(news).length > 0;
  if (isRequest) {
    const meta = hasNews ? { meta: { codex: news } } : {};
    return { state, body: { kind: "usage", usage: toUsage(last), ...dropUndefined({ model }), ...meta } };
  }
  if (!hasNews) return { state };
  return { state, body: { kind: "raw", value: { type: "token_count", ...news } } };
}

/** Converts usage: OpenAI counts cache reads and writes as input. */
function toUsage(counts: JsonObject): Usage {
  const input = toNumber(counts.input_tokens);
  const cacheReadTokens = toNumber(counts.cached_input_tokens);
  const cacheWriteTokens = toNumber(counts.cache_write_input_tokens);
  return dropUndefined({
    inputTokens:
      input === undefined ? undefined : Math.max(0, input - (cacheReadTokens ?? 0) - (cacheWriteTokens ?? 0)),
    outputTokens: toNumber(counts.output_tokens),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: toNumber(counts.reasoning_output_tokens),
  });
}

/** True if the total is the previous total plus this request, so it need not be kept. */
function isSum(total: JsonObject, last: JsonObject, before: UsageState): boolean {
  const earlier = before.total === undefined ? {} : (JSON.parse(before.total) as JsonObject);
  return Object.entries(total).every(
    ([name, value]) => value === (toNumber(earlier[name]) ?? 0) + (toNumber(last[name]) ?? 0),
  );
}
