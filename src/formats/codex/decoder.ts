import type { Json, MessageInput } from "../../index.ts";
import { definedFields, numberOf, objectOf, textOf, timeOf } from "../content/fields.ts";
import { fingerprint } from "../content/fingerprint.ts";
import { addFacts, NO_FACTS, type SessionFacts } from "../content/session-facts.ts";
import { toldFields } from "../content/told-fields.ts";
import type { Item } from "../item.ts";
import type { LineDecoder, LineRecord } from "../reading/decode-lines.ts";
import { compactionItems, lossItems } from "./compaction.ts";
import { awaitedBy, restOfEvent } from "./echoes.ts";
import { KnownTexts } from "./known-texts.ts";
import { Outbox } from "./outbox.ts";
import { rememberItem } from "./remember.ts";
import { meaningOf } from "./response-items.ts";
import { messageOf, type RolloutLine, rawOf, recordOf, rolloutLine, withPlace } from "./rollout-line.ts";
import { reportOfTokens, type UsageState } from "./token-usage.ts";
import { beginsTurn, UserTurns } from "./user-turns.ts";

/** State carried from line to line, apart from held items. */
interface Carried {
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

interface RolloutState extends Carried {
  readonly last: string;
  readonly hasMessages: boolean;
  readonly texts: readonly string[];
  readonly turns: readonly string[];
  readonly droppedTurns: number;
}

const MAX_ANSWERED = 64;

export class RolloutDecoder implements LineDecoder {
  readonly #path: string;
  readonly #carried: Carried;
  readonly #known: KnownTexts;
  readonly #turns: UserTurns;
  readonly #out: Outbox;

  constructor(path: string, saved: Json | undefined) {
    const state = saved as unknown as RolloutState | undefined;
    const { last = "", hasMessages = false, texts, turns, droppedTurns, ...carried } = state ?? {};
    this.#path = path;
    this.#carried = { facts: NO_FACTS, usage: {}, answered: [], ...carried };
    this.#known = new KnownTexts(texts);
    this.#turns = new UserTurns(turns, droppedTurns);
    this.#out = new Outbox(this.#known, { last, hasMessages });
  }

  get isSettled(): boolean {
    return this.#out.isSettled;
  }

  state(): Json {
    const state: RolloutState = {
      ...this.#carried,
      last: this.#out.last,
      hasMessages: this.#out.hasMessages,
      texts: this.#known.toJSON(),
      turns: [...this.#turns.before],
      droppedTurns: this.#turns.dropped,
    };
    return state as unknown as Json;
  }

  decode(record: LineRecord): readonly Item[] {
    this.#take(rolloutLine(record));
    return this.#out.take();
  }

  end(): readonly Item[] {
    this.#out.finish();
    return this.#out.take();
  }

  #take(line: RolloutLine): void {
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
        this.#out.put(rawOf(line));
    }
  }

  #describe(line: RolloutLine): void {
    const { payload } = line;
    const thread = textOf(payload.id);
    // In a forked thread, the description of its origin follows its own.
    if (this.#carried.thread !== undefined && thread !== undefined && thread !== this.#carried.thread) {
      this.#out.put(rawOf(line));
      return;
    }
    if (this.#carried.thread === undefined) this.#noteBase(line);
    const ownFrom = numberOf(payload.subagent_history_start_ordinal);
    const { facts, isChanged, large } = addFacts(this.#carried.facts, payload);
    Object.assign(this.#carried, definedFields({ thread, ownFrom }), { facts });
    const createdAt = timeOf(facts.small.timestamp);
    if (isChanged)
      this.#out.put({ type: "session", ...definedFields({ createdAt }), meta: { codex: facts.small } });
    if (large) this.#out.put(rawOf(line, large));
    if (!isChanged && !large) this.#out.put({ type: "copy", bytes: line.sizeBytes });
  }

  /** Reports a reverted or forked thread that continues from another file. */
  #noteBase({ payload, line }: RolloutLine): void {
    const base = objectOf(payload.history_base);
    if (!base) return;
    const { thread_id: rollout, end_ordinal_exclusive: end } = base;
    const reason = `goes on from record ${end} of rollout ${rollout}; what was before is in that file`;
    this.#out.put({ type: "problem", path: this.#path, line, severity: "damaged", reason });
  }

  #takeItem(line: RolloutLine): void {
    const { payload, id } = line;
    const { model, turnId } = this.#carried;
    rememberItem(payload, this.#known);
    const meaning = meaningOf(payload, { id, model, turnId });
    if (meaning.kind === "reasoning") this.#out.think(line, meaning.part, model);
    else if (meaning.kind === "other") {
      this.#out.release();
      this.#out.put(rawOf(line));
    } else {
      this.#takeMessage(line, withPlace(meaning.message, line));
      if (meaning.results) this.#out.hear(messageOf(line, meaning.results, ":results"));
    }
  }

  #takeMessage(line: RolloutLine, message: MessageInput): void {
    const record = messageOf(line, message);
    const callId = textOf(line.payload.call_id);
    if (message.role === "assistant") this.#out.say(record, message);
    else if (message.role === "tool" && callId !== undefined) {
      this.#carried.answered = [...this.#carried.answered, callId].slice(-MAX_ANSWERED);
      this.#out.answer(record, callId);
    } else {
      this.#out.release();
      if (beginsTurn(line.payload)) this.#turns.begin(this.#out.last);
      this.#out.hear(record);
    }
  }

  /** Every turn repeats the settings; only changes are kept. */
  #beginTurn(line: RolloutLine): void {
    const { turn_id: turnId, ...rest } = line.payload;
    const settings = fingerprint(JSON.stringify(rest));
    const isSame = settings === this.#carried.settings;
    const isNamed = turnId === undefined || turnId === this.#carried.turnId;
    const model = textOf(rest.model);
    Object.assign(this.#carried, definedFields({ settings, model, turnId: textOf(turnId) }));
    if (!isSame) this.#out.put(rawOf(line));
    else if (!isNamed) this.#out.put(rawOf(line, { turn_id: turnId }));
    else this.#out.put({ type: "copy", bytes: line.sizeBytes });
  }

  #compact(line: RolloutLine): void {
    this.#out.release();
    const { id } = line;
    if (!this.#out.hasMessages) for (const item of lossItems(line, this.#path)) this.#out.put(item);
    for (const item of compactionItems(line, { id, turnId: this.#carried.turnId })) this.#out.put(item);
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
        this.#notice(line);
        break;
      case "context_compacted":
        // Confirms the preceding compaction.
        if (Object.keys(payload).length > 1) this.#out.put(rawOf(line));
        else this.#out.put({ type: "copy", bytes: line.sizeBytes });
        break;
      case "thread_name_updated":
        this.#out.put({ type: "session", ...definedFields({ title: textOf(payload.thread_name) }) });
        this.#out.put(rawOf(line));
        break;
      case "task_started":
      case "turn_started":
        Object.assign(this.#carried, definedFields({ turnId: textOf(payload.turn_id) }));
        this.#out.put(rawOf(line));
        break;
      default:
        this.#repeat(line);
    }
  }

  /** Decodes an event that may repeat items before or after it. */
  #repeat(line: RolloutLine): void {
    const awaited = awaitedBy(line.payload);
    const rest = restOfEvent(line.payload, this.#known);
    const { callId } = awaited ?? {};
    const isLate = callId === undefined ? rest.isKnown : this.#carried.answered.includes(callId);
    if (awaited && !isLate) this.#out.wait(line, callId);
    else this.#out.tell(line, rest);
  }

  #countTokens(line: RolloutLine): void {
    const { ownFrom, usage, model } = this.#carried;
    if (ownFrom !== undefined && line.ordinal !== undefined && line.ordinal < ownFrom) {
      // The parent thread used these tokens and reports them itself.
      this.#out.put(rawOf(line));
      return;
    }
    const { state, body } = reportOfTokens(line.payload, usage, model);
    this.#carried.usage = state;
    this.#out.put(body ? recordOf(line, body) : { type: "copy", bytes: line.sizeBytes });
  }

  #rollBack(line: RolloutLine): void {
    this.#out.release();
    const count = numberOf(line.payload.num_turns) ?? 0;
    const back = this.#turns.rollBack(count);
    if (back) this.#out.put({ type: "rewind", to: back.to });
    if (back && !back.isExact) {
      const reason = `takes ${count} turns back, more than are remembered`;
      this.#out.put({ type: "problem", path: this.#path, line: line.line, severity: "damaged", reason });
    }
    this.#out.put(rawOf(line));
  }

  #notice(line: RolloutLine): void {
    const text = textOf(line.payload.message);
    const rest = toldFields(line.payload, ["type", "message"]);
    if (text !== undefined) this.#out.put(recordOf(line, { kind: "notice", text }));
    if (text === undefined) this.#out.put(rawOf(line));
    else if (rest) this.#out.put(rawOf(line, rest, ":extra"));
  }
}
