import type { LineBody } from "../faces/log.ts";
import { type Entry, type EntryId, LonghaulError, type Message, type Role, type Session } from "../index.ts";

/** A message of the line. */
export interface LineMessage {
  readonly id: EntryId;
  /** Seq of the entry; undefined if it belongs to the session that this one was forked from. */
  readonly seq: number | undefined;
  readonly key: string;
  readonly role: Role;
  /** Number of parts in the log. */
  readonly partCount: number;
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

  /** Returns the line, updated with new entries. */
  async refresh(): Promise<CachedLine> {
    if (this.#line && this.#session.peekHead()?.seq === this.head) return this.#line;
    if (this.#line && (await this.#follow(this.#line))) return this.#line;
    this.#line = await this.#load();
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
    if (this.#line !== seen || chosen.seq !== this.head + 1) return;
    const shorter = new GrowingLine(chosen.seq);
    for (const message of kept) shorter.add(message);
    this.#line = shorter;
    this.head = chosen.seq;
  }

  /** The newest messages of the line, oldest first; not cached. */
  async readNewest(limit: number): Promise<readonly LineMessage[]> {
    const { seq: head } = await this.#session.head();
    return this.#read(head, limit);
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

  async #load(): Promise<GrowingLine> {
    const { seq: head } = await this.#session.head();
    const [line] = await this.#session.lines(1);
    const messages = await this.#read(head, MAX_MESSAGES + 1);
    if (messages.length > MAX_MESSAGES) throw createTooLongError(this.#session.id);
    this.head = head;
    const seen = new GrowingLine(line?.seq ?? 0);
    for (const message of messages) seen.add(message);
    return seen;
  }

  /** The newest messages of the line up to `head`; later ones are read by the next `look`. */
  async #read(head: number, most: number): Promise<readonly LineMessage[]> {
    const newest: LineMessage[] = [];
    for await (const entry of this.#session.entries({ direction: "older", kinds: ["message"] })) {
      const isOld = entry.session !== this.#session.id || entry.seq <= head;
      if (isOld && !isRecalled(entry)) newest.push(this.#toLineMessage(entry));
      if (newest.length === most) break;
    }
    return newest.reverse();
  }

  #toLineMessage(entry: Entry): LineMessage {
    const { id } = entry;
    const seq = entry.session === this.#session.id ? entry.seq : undefined;
    // A damaged message keeps its place under a key that no caller has, so that the caller's own message replaces it.
    if (entry.kind !== "message") return { id, seq, key: `damaged ${id}`, role: "user", partCount: 0 };
    const { message } = entry;
    return { id, seq, key: this.#keyOf(message), role: message.role, partCount: message.parts.length };
  }
}

class GrowingLine implements CachedLine {
  readonly lineSeq: number;
  readonly messages: LineMessage[] = [];
  readonly keys: string[] = [];
  readonly roles: Role[] = [];
  readonly #places = new Map<EntryId, number>();
  readonly #placesBySeq = new Map<number, number>();

  constructor(lineSeq: number) {
    this.lineSeq = lineSeq;
  }

  add(message: LineMessage): void {
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
