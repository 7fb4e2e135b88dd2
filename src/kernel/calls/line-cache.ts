import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { getShownMessage } from "../../model/entry.ts";
import type { LineBody } from "../faces/log.ts";
import {
  type Entry,
  type EntryId,
  type EntryKind,
  LonghaulError,
  type Message,
  type MessageBody,
  type MessageInput,
  type Role,
  type Session,
} from "../index.ts";

/** A message of the line. */
export interface LineMessage {
  readonly id: EntryId;
  /** Seq of the entry; undefined if it belongs to the session that this one was forked from. */
  readonly seq: number | undefined;
  readonly key: string;
  readonly role: Role;
  /** Number of parts in the log. */
  readonly partCount: number;
  /** True for a reply that broke off. */
  readonly isInterrupted?: true;
  /** True for an erased message until a caller is found to have it; its key covers only its remains. */
  readonly isErased?: true;
}

/** The messages of a caller that keeps the whole conversation, erased ones included. */
export interface CallerCopy {
  readonly keys: readonly string[];
  readonly roles: readonly Role[];
}

/** A cached line. */
export interface CachedLine {
  /** Seq of the line entry that selected it. */
  readonly lineSeq: number;
  /** Grows while the line is active. */
  readonly messages: readonly LineMessage[];
  /** Keys of the messages; `roles` holds their roles. */
  readonly keys: readonly string[];
  readonly roles: readonly Role[];
  /** True if it lacks erased messages, which a caller may still have. */
  readonly lacksErased: boolean;
  /** Place of an entry among the messages. */
  placeOf(id: EntryId): number | undefined;
  /** Place of an entry of the session itself; faster than `placeOf`. */
  placeOfSeq(seq: number): number | undefined;
}

/**
 * Callers that pass whole conversations keep them in memory anyway; longer conversations must be read through the
 * session.
 */
const MAX_MESSAGES = 200_000;
const PAGE_ENTRIES = 1_000;

/** Computes a key from the content of a message; messages with the same key are equal. */
export type KeyFunction = (message: Message) => string;

/** Caches the messages of a session's active line and follows the log, no matter which process writes to it. */
export class LineCache {
  readonly #session: Session;
  readonly #keyOf: KeyFunction;
  #line: GrowingLine | undefined;
  /** Seq of the last entry that the line was read with; 0 before the first read. */
  head = 0;

  constructor(session: Session, keyOf: KeyFunction) {
    this.#session = session;
    this.#keyOf = keyOf;
  }

  /** The last message of the line that was last seen. */
  get last(): EntryId | undefined {
    return this.#line?.messages.at(-1)?.id;
  }

  /**
   * Returns the line, updated with new entries. Erased messages are on it only if a caller still has them; otherwise the
   * caller's words would be stored and sent again.
   */
  async refresh(copy?: CallerCopy): Promise<CachedLine> {
    const isCurrent = this.#line !== undefined && this.#session.peekHead()?.seq === this.head;
    if (!this.#line || !(isCurrent || (await this.#follow(this.#line)))) this.#line = await this.#load();
    if (copy && this.#line.all) this.#line = recognizeErased(this.#line, this.#line.all, copy);
    return this.#line;
  }

  /**
   * Adds entries that were just appended, so that they need not be read again; false if other entries lie in between.
   */
  addAppended(entries: readonly Entry[]): boolean {
    if (!this.#line) return false;
    let next = this.head;
    for (const { seq } of entries) if (seq !== ++next) return false;
    return this.#add(this.#line, entries);
  }

  /** Records that the line was just rewound to its message at `place`, so that it need not be read again. */
  recordRewind(seen: CachedLine, place: number, chosen: Entry<LineBody>): void {
    this.#replaceLine(seen, seen.messages.slice(0, place + 1), chosen);
  }

  /** Records that the messages at `places` were just removed from the line, so that it need not be read again. */
  recordDrop(seen: CachedLine, places: readonly number[], chosen: Entry<LineBody>): void {
    const gone = new Set(places);
    const kept = seen.messages.filter((_, place) => !gone.has(place));
    this.#replaceLine(seen, kept, chosen);
  }

  #replaceLine(seen: CachedLine, kept: readonly LineMessage[], chosen: Entry<LineBody>): void {
    if (this.#line !== seen || this.#line.all || chosen.seq !== this.head + 1) return;
    this.#line = new GrowingLine(chosen.seq, kept);
    this.head = chosen.seq;
  }

  /** The newest messages of the line, oldest first; not cached. */
  async readNewest(limit: number): Promise<readonly LineMessage[]> {
    const { seq: head } = await this.#session.head();
    return this.#read(head, limit, ["message"]);
  }

  /** Returns false if the active line has changed. */
  async #follow(seen: GrowingLine): Promise<boolean> {
    // Reading the head costs a fraction of reading entries.
    if ((await this.#session.head()).seq === this.head) return true;
    for (;;) {
      const entries = await this.#session.read({ from: this.head + 1, limit: PAGE_ENTRIES });
      if (!this.#add(seen, entries)) return false;
      if (entries.length < PAGE_ENTRIES) return true;
    }
  }

  #add(seen: GrowingLine, entries: readonly Entry[]): boolean {
    for (const entry of entries) {
      if (entry.kind === "line" || entry.kind === "redacted" || entry.kind === "damaged") return false;
      if (entry.kind === "message" && !isRecalled(entry)) seen.add(this.#toLineMessage(entry));
      this.head = entry.seq;
    }
    return true;
  }

  /** The newest messages of the session's own log within some ranges; not cached. */
  async readOwn(
    ranges: readonly (readonly [from: number, to: number])[],
    most: number,
  ): Promise<readonly LineMessage[]> {
    const found: LineMessage[] = [];
    for (const [from, to] of ranges.toReversed())
      for (let next = from; next <= to && found.length < most; ) {
        const entries = await this.#session.read({ from: next, to, limit: PAGE_ENTRIES, kinds: ["message"] });
        for (const entry of entries) if (!isRecalled(entry)) found.push(this.#toLineMessage(entry));
        next = entries.length < PAGE_ENTRIES ? to + 1 : (entries.at(-1)?.seq ?? to) + 1;
      }
    return found;
  }

  async #load(): Promise<GrowingLine> {
    const { seq: head } = await this.#session.head();
    const [line] = await this.#session.lines(1);
    const messages = await this.#read(head, MAX_MESSAGES + 1, ["message", "redacted"]);
    if (messages.length > MAX_MESSAGES) throw createTooLongError(this.#session.id);
    this.head = head;
    const known = messages.map((one) => (one.isErased ? (this.#line?.get(one.id) ?? one) : one));
    return new GrowingLine(line?.seq ?? 0, known);
  }

  /** The newest messages of the line up to `head`; later ones are read by the next `look`. */
  async #read(head: number, most: number, kinds: readonly EntryKind[]): Promise<readonly LineMessage[]> {
    const newest: LineMessage[] = [];
    for await (const entry of this.#session.entries({ direction: "older", kinds })) {
      const isOld = entry.session !== this.#session.id || entry.seq <= head;
      const isShown = entry.kind === "redacted" ? entry.left !== undefined : !isRecalled(entry);
      if (isOld && isShown) newest.push(this.#toLineMessage(entry));
      if (newest.length === most) break;
    }
    return newest.reverse();
  }

  #toLineMessage(entry: Entry): LineMessage {
    const { id } = entry;
    const seq = entry.session === this.#session.id ? entry.seq : undefined;
    // A damaged message keeps its place under a key that no caller has, so that the caller's own message replaces it.
    const message = getShownMessage(entry);
    if (!message) return { id, seq, key: `damaged ${id}`, role: "user", partCount: 0 };
    const { role, parts } = message;
    const own = { id, seq, key: this.#keyOf(message), role, partCount: parts.length };
    if (entry.kind === "redacted") return { ...own, isErased: true };
    return message.interrupted ? { ...own, isInterrupted: true } : own;
  }
}

class GrowingLine implements CachedLine {
  readonly lineSeq: number;
  readonly messages: LineMessage[] = [];
  readonly keys: string[] = [];
  readonly roles: Role[] = [];
  readonly #places = new Map<EntryId, number>();
  readonly #placesBySeq = new Map<number, number>();
  readonly lacksErased: boolean;
  /** All messages, if it lacks erased ones. */
  readonly all: LineMessage[] | undefined;

  constructor(lineSeq: number, messages: readonly LineMessage[]) {
    this.lineSeq = lineSeq;
    for (const message of messages) if (!message.isErased) this.add(message);
    this.lacksErased = this.messages.length < messages.length;
    if (this.lacksErased) this.all = [...messages];
  }

  get(id: EntryId): LineMessage | undefined {
    return this.messages[this.#places.get(id) ?? -1];
  }

  add(message: LineMessage): void {
    this.all?.push(message);
    this.#places.set(message.id, this.messages.length);
    if (message.seq !== undefined) this.#placesBySeq.set(message.seq, this.messages.length);
    this.messages.push(message);
    this.keys.push(message.key);
    this.roles.push(message.role);
  }

  placeOf(id: EntryId): number | undefined {
    return this.#places.get(id);
  }

  placeOfSeq(seq: number): number | undefined {
    return this.#placesBySeq.get(seq);
  }
}

/**
 * The line with those erased messages that a caller still has: messages of the same roles, before a reply that both
 * have, and the same before them. At the end of the line one must be a reply and something must follow, because a
 * caller that says something else there begins after its last reply.
 */
function recognizeErased(
  line: GrowingLine,
  messages: readonly LineMessage[],
  { keys, roles }: CallerCopy,
): GrowingLine {
  const differs = messages.findIndex(
    ({ key, role, isErased }, index) => key !== keys[index] && !(isErased && role === roles[index]),
  );
  const same = differs < 0 ? messages.length : differs;
  const reply = messages
    .slice(0, same)
    .findLastIndex(({ role, isErased }) => role === "assistant" && !isErased);
  const isEnd = differs < 0 && keys.length > same && roles.slice(reply + 1, same).includes("assistant");
  const known = isEnd ? same : reply + 1;
  if (!messages.slice(0, known).some(({ isErased }) => isErased)) return line;
  const recognized = messages.map((message, index): LineMessage => {
    if (!message.isErased || index >= known) return message;
    const { isErased: _, ...own } = message;
    return { ...own, key: keys[index] as string };
  });
  return new GrowingLine(line.lineSeq, recognized);
}

/** Recalled text precedes the user's message, and no caller knows about it. */
function isRecalled(entry: Entry): boolean {
  return entry.kind === "message" && entry.message.meta?.longhaul === "recalled";
}

function createTooLongError(session: string): LonghaulError {
  return new LonghaulError(
    "ARGUMENT_INVALID",
    `Session ${JSON.stringify(session)} has more than ${MAX_MESSAGES} messages, too many to compare with a caller's; set history: "session" and say only what is new.`,
    { details: { session } },
  );
}

/** A message as a caller passed it. */
export interface CallerMessage {
  /** Builds the message for the log. A method: call it on its message, which may be an object with private fields. */
  input(): MessageInput;
  /** Key of the content: messages with the same key are equal. */
  readonly key: string;
  /** Messages to write before this one if it is new: recalled text, which no caller sends. */
  readonly before?: () => Promise<readonly MessageInput[]>;
}

/** A caller's message with facts about its entry in the log. */
export interface PlacedMessage<G extends CallerMessage> {
  readonly callerMessage: G;
  /** Number of parts in the log; a caller may have dropped reasoning. */
  readonly partCount: number;
}

/** A caller's messages, by their entries in the log. */
export interface PlacedMessages<G extends CallerMessage> {
  readonly byId: Pick<ReadonlyMap<EntryId, PlacedMessage<G>>, "get">;
  /** The same by seq, for entries of the session itself; faster, but not always present. */
  readonly bySeq?: Pick<ReadonlyMap<number, PlacedMessage<G>>, "get">;
  /** The last message; a reply is appended after it. */
  readonly last: EntryId | undefined;
  /** Messages that were appended; absent if something else may have been written between them. */
  readonly written?: readonly Entry<MessageBody>[];
}

/**
 * Pairs the messages of a line with those of the caller. `written` holds the ones just appended. Messages that the line
 * gets later are not included.
 */
export function pairMessages<G extends CallerMessage>(
  line: Pick<CachedLine, "messages" | "placeOf"> & Partial<Pick<CachedLine, "placeOfSeq">>,
  given: readonly G[],
  written?: readonly Entry<MessageBody>[],
): PlacedMessages<G> {
  const at = (place = -1): PlacedMessage<G> | undefined => {
    const message = line.messages[place];
    const own = given[place];
    // Another writer may have changed the line meanwhile; then the message in the log is sent.
    return message && own?.key === message.key
      ? { callerMessage: own, partCount: message.partCount }
      : undefined;
  };
  return {
    byId: { get: (id) => at(line.placeOf(id)) },
    ...(line.placeOfSeq && { bySeq: { get: (seq) => at(line.placeOfSeq?.(seq)) } }),
    last: line.messages.at(-1)?.id,
    ...dropUndefined({ written }),
  };
}

/** True if a caller's messages begin with all messages of a line. */
export function continuesLine({ keys }: Pick<CachedLine, "keys">, given: readonly CallerMessage[]): boolean {
  for (let place = 0; place < keys.length; place++) if (keys[place] !== given[place]?.key) return false;
  return true;
}

/** Like `placed`, for messages appended after the entry `last`; undefined if other messages came in between. */
export function pairMessagesAfter<G extends CallerMessage>(
  line: CachedLine,
  last: EntryId,
  given: readonly G[],
): PlacedMessages<G> | undefined {
  const from = (line.placeOf(last) ?? line.messages.length) + 1;
  const messages = line.messages.slice(from, from + given.length);
  const isRight = given.every(({ key }, index) => messages[index]?.key === key);
  if (!isRight || line.placeOf(last) === undefined) return undefined;
  const placeOf = (id: EntryId) => {
    const at = (line.placeOf(id) ?? -1) - from;
    return at < 0 ? undefined : at;
  };
  const { byId } = pairMessages({ messages, placeOf }, given);
  return { byId, last: messages.at(-1)?.id ?? last };
}
