import type { Json } from "../../index.ts";
import { arrayOf, definedFields, objectOf, textOf, timeOf } from "../content/fields.ts";
import { addFacts, NO_FACTS, type SessionFacts } from "../content/session-facts.ts";
import type { Item, RecordItem } from "../item.ts";
import type { LineDecoder, LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { recordsOf } from "./message-records.ts";
import { Order, type Placed } from "./order.ts";

interface ChatState {
  readonly facts: SessionFacts;
  readonly order: readonly Placed[];
  readonly isCut: boolean;
  readonly held?: LineRecord;
}

/** A message that is held back goes into a checkpoint unless it is larger than this. */
const MAX_HELD_BYTES = 64 * 1024;

/** Turns the lines of a chat into items. */
export class ChatDecoder implements LineDecoder {
  readonly #path: string;
  readonly #order: Order;
  #facts: SessionFacts;
  /** The message written last: it is written anew while it grows. */
  #held: LineRecord | undefined;

  constructor(path: string, saved: Json | undefined) {
    const state = saved as unknown as ChatState | undefined;
    this.#path = path;
    this.#facts = state?.facts ?? NO_FACTS;
    this.#order = new Order(state?.order, state?.isCut);
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
    const id = textOf(record.id);
    const rewindTo = textOf(record.$rewindTo);
    const update = objectOf(record.$set);
    if (rewindTo !== undefined) {
      yield* this.#release();
      yield* this.#rewind(rewindTo, line.line);
    } else if (id !== undefined) yield* this.#hold(line, id);
    else if (update) yield* this.#update(update, line);
    else if (textOf(record.sessionId) !== undefined) yield* this.#describe(record, line);
    else yield rawRecord(line, record as Json);
  }

  /** It may go on growing; then it comes again. */
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
    const id = textOf(message.id) ?? "";
    const records = recordsOf(message, id);
    const where = this.#order.place([id, records.map((record) => record.id.slice(id.length))]);
    yield* records;
    // It stands where it stood; what followed it still follows.
    if (where === "earlier" && !this.#order.isCut) yield { type: "line", records: this.#order.records() };
    else if (where === "earlier") yield { type: "rewind", to: this.#order.last };
  }

  /** A message that is not there empties the chat. */
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

  /** The chat consists of these messages from here on: known ones, changed ones and new ones. */
  *#replaceAll(messages: readonly unknown[], { line }: LineRecord): Generator<Item> {
    const all = messages.map((value) => objectOf(value) ?? { content: value });
    const answered = new Set(all.filter(({ type }) => type === "user").flatMap(answersOf));
    this.#order.clear();
    for (const [index, message] of all.entries()) {
      const id = textOf(message.id) ?? `L${line}#${index}`;
      const records = recordsOf(message, id, answered);
      this.#order.place([id, records.map((record) => record.id.slice(id.length))]);
      yield* records;
    }
    yield { type: "line", records: this.#order.records() };
  }

  *#describe(fields: JsonObject, line: LineRecord): Generator<Item> {
    const { facts, isChanged, large } = addFacts(this.#facts, fields);
    this.#facts = facts;
    if (isChanged) yield sessionItem(facts);
    if (large) yield rawRecord(line, large);
  }
}

/** What is known of the chat as a whole. */
export function sessionItem({ small }: SessionFacts): Item {
  const createdAt = timeOf(small.startTime);
  const title = textOf(small.summary);
  return { type: "session", ...definedFields({ createdAt, title }), meta: { "gemini-cli": small } };
}

/** The calls that a message of the user answers. */
function answersOf({ content }: JsonObject): readonly string[] {
  return arrayOf(content).flatMap((value) => textOf(objectOf(objectOf(value)?.functionResponse)?.id) ?? []);
}

function rawRecord({ line }: LineRecord, value: Json): RecordItem {
  return { type: "record", id: `L${line}`, body: { kind: "raw", value } };
}
