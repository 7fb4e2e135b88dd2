import type { Json } from "../../kernel/index.ts";
import { dropUndefined, toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import { addFacts, NO_FACTS, type SessionFacts } from "../content/session-facts.ts";
import type { Item, RecordItem } from "../port/item.ts";
import type { LineDecoder, LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { buildChatRecords } from "./message-records.ts";

/** Maximum messages to remember for rewinds. */
const MAX_MESSAGES = 2_000;

interface ChatState {
  readonly facts: SessionFacts;
  readonly order: readonly OrderedMessage[];
  readonly isCut: boolean;
  readonly held?: LineRecord;
}

/** Maximum size of a held message in a checkpoint. */
const MAX_HELD_BYTES = 64 * 1024;

export class ChatDecoder implements LineDecoder {
  readonly #path: string;
  readonly #order: MessageOrder;
  #facts: SessionFacts;
  /** The newest message, held because it is rewritten while it grows. */
  #held: LineRecord | undefined;

  constructor(path: string, saved: Json | undefined) {
    const state = saved as unknown as ChatState | undefined;
    this.#path = path;
    this.#facts = state?.facts ?? NO_FACTS;
    this.#order = new MessageOrder(state?.order, state?.isCut);
    this.#held = state?.held;
  }

  get isSettled(): boolean {
    return this.#held === undefined || this.#held.sizeBytes <= MAX_HELD_BYTES;
  }

  state(): Json {
    const state: ChatState = {
      facts: this.#facts,
      order: this.#order.messages,
      isCut: this.#order.isCut,
      ...(this.#held && { held: this.#held }),
    };
    return state as unknown as Json;
  }

  *decode(line: LineRecord): Generator<Item> {
    const { record } = line;
    const id = toText(record.id);
    const rewindTo = toText(record.$rewindTo);
    const update = toObject(record.$set);
    if (rewindTo !== undefined) {
      yield* this.#release();
      yield* this.#rewind(rewindTo, line.line);
    } else if (id !== undefined) yield* this.#hold(line, id);
    else if (update) yield* this.#update(update, line);
    else if (toText(record.sessionId) !== undefined) yield* this.#describe(record, line);
    else yield buildRawRecord(line, record as Json);
  }

  /** Emits the held message without releasing it; if it grows, it is emitted again. */
  *end(): Generator<Item> {
    if (this.#held) yield* this.#place(this.#held.record);
  }

  *#hold(line: LineRecord, id: string): Generator<Item> {
    const held = this.#held;
    if (held && held.record.id === id) yield { type: "copy", bytes: held.sizeBytes };
    else yield* this.#release();
    this.#held = line;
  }

  *#release(): Generator<Item> {
    const held = this.#held;
    this.#held = undefined;
    if (held) yield* this.#place(held.record);
  }

  *#place(message: JsonObject): Generator<Item> {
    const id = toText(message.id) ?? "";
    const records = buildChatRecords(message, id);
    const where = this.#order.place([id, records.map((record) => record.id.slice(id.length))]);
    yield* records;
    // The new version keeps its place, and its followers stay.
    if (where === "earlier" && !this.#order.isCut) yield { type: "line", records: this.#order.records() };
    else if (where === "earlier") yield { type: "rewind", to: this.#order.last };
  }

  /** Rewinds to a message; an unknown message clears the chat. */
  *#rewind(message: string, line: number): Generator<Item> {
    const to = this.#order.rewindTo(message);
    if (to !== undefined) yield { type: "rewind", to };
    else if (this.#order.isCut) {
      const reason = "goes back further than is remembered; the line stays as it was";
      yield { type: "problem", path: this.#path, line, severity: "damaged", reason };
    } else {
      this.#order.clear();
      yield { type: "rewind", to: null };
    }
  }

  *#update({ messages, ...fields }: JsonObject, line: LineRecord): Generator<Item> {
    if (Array.isArray(messages)) {
      yield* this.#release();
      yield* this.#replaceAll(messages, line);
    }
    yield* this.#describe(fields, line);
  }

  /** Replaces the whole chat with these messages, whether known, changed or new. */
  *#replaceAll(messages: readonly unknown[], { line }: LineRecord): Generator<Item> {
    const all = messages.map((value) => toObject(value) ?? { content: value });
    const answered = new Set(all.filter(({ type }) => type === "user").flatMap(getAnsweredCalls));
    this.#order.clear();
    for (const [index, message] of all.entries()) {
      const id = toText(message.id) ?? `L${line}#${index}`;
      const records = buildChatRecords(message, id, answered);
      this.#order.place([id, records.map((record) => record.id.slice(id.length))]);
      yield* records;
    }
    yield { type: "line", records: this.#order.records() };
  }

  *#describe(fields: JsonObject, line: LineRecord): Generator<Item> {
    const { facts, isChanged, large } = addFacts(this.#facts, fields);
    this.#facts = facts;
    if (isChanged) yield buildChatSessionItem(facts);
    if (large) yield buildRawRecord(line, large);
  }
}

/** Builds the session item from the facts. */
export function buildChatSessionItem({ small }: SessionFacts): Item {
  const createdAt = toTime(small.startTime);
  const title = toText(small.summary);
  return { type: "session", ...dropUndefined({ createdAt, title }), meta: { "gemini-cli": small } };
}

/** Returns the calls that a user message answers. */
function getAnsweredCalls({ content }: JsonObject): readonly string[] {
  return toArray(content).flatMap((value) => toText(toObject(toObject(value)?.functionResponse)?.id) ?? []);
}

function buildRawRecord({ line }: LineRecord, value: Json): RecordItem {
  return { type: "record", id: `L${line}`, body: { kind: "raw", value } };
}

/** A message with the suffixes of its records' ids. */
type OrderedMessage = readonly [id: string, suffixes: readonly string[]];

/** The remembered messages of the line, oldest first. */
class MessageOrder {
  #messages: OrderedMessage[];
  #isCut: boolean;

  constructor(messages: readonly OrderedMessage[] = [], isCut = false) {
    this.#messages = [...messages];
    this.#isCut = isCut;
  }

  /** True if the line has older messages that are not remembered. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get messages(): readonly OrderedMessage[] {
    return this.#messages;
  }

  /** Id of the last record; null if none. */
  get last(): string | null {
    return getLastRecord(this.#messages.at(-1));
  }

  /** Returns the ids of all records on the line. */
  records(): readonly string[] {
    return this.#messages.flatMap(([id, suffixes]) => suffixes.map((suffix) => id + suffix));
  }

  /** Appends a message, or replaces its older version in place; returns its position. */
  place(message: OrderedMessage): "new" | "last" | "earlier" {
    const index = this.#messages.findLastIndex(([id]) => id === message[0]);
    if (index >= 0) {
      this.#messages[index] = message;
      return index === this.#messages.length - 1 ? "last" : "earlier";
    }
    this.#messages.push(message);
    if (this.#messages.length > MAX_MESSAGES) {
      this.#messages.shift();
      this.#isCut = true;
    }
    return "new";
  }

  /** Removes a message and all after it; returns the last record then, or undefined if the message is unknown. */
  rewindTo(message: string): string | null | undefined {
    const index = this.#messages.findIndex(([id]) => id === message);
    if (index < 0 || (index === 0 && this.#isCut)) return undefined;
    this.#messages.length = index;
    return this.last;
  }

  clear(): void {
    this.#messages = [];
    this.#isCut = false;
  }
}

function getLastRecord(message: OrderedMessage | undefined): string | null {
  return message ? message[0] + (message[1].at(-1) ?? "") : null;
}
