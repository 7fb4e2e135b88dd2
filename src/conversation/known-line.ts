import {
  type Cursor,
  type Entry,
  type EntryId,
  type LineBody,
  LonghaulError,
  type Message,
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
  readonly parts: number;
}

/** A cached line. */
export interface LineSeen {
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
const MOST_MESSAGES = 200_000;
const PAGE = 1_000;

/** Computes a key from the content of a message; messages with the same key are equal. */
export type KeyOf = (message: Message) => string;

/** Caches the messages of a session's active line and follows the log, no matter which process writes to it. */
export class KnownLine {
  readonly #session: Session;
  readonly #keyOf: KeyOf;
  #seen: Seen | undefined;
  #head = 0;

  constructor(session: Session, keyOf: KeyOf) {
    this.#session = session;
    this.#keyOf = keyOf;
  }

  /** Returns the line, updated with new entries. */
  async look(): Promise<LineSeen> {
    if (this.#seen && (await this.#follow(this.#seen))) return this.#seen;
    this.#seen = await this.#load();
    return this.#seen;
  }

  /**
   * Adds entries that were just appended, so that they need not be read again; false if other entries lie in between.
   */
  appended(entries: readonly Entry[]): boolean {
    const isNext = entries.every(({ seq }, index) => seq === this.#head + 1 + index);
    return this.#seen !== undefined && isNext && this.#add(this.#seen, entries);
  }

  /** Records that the line was just rewound to its message at `place`, so that it need not be read again. */
  rewound(seen: LineSeen, place: number, chosen: Entry<LineBody>): void {
    this.#shortened(seen, seen.messages.slice(0, place + 1), chosen);
  }

  /** Records that the messages at `places` were just removed from the line, so that it need not be read again. */
  dropped(seen: LineSeen, places: readonly number[], chosen: Entry<LineBody>): void {
    const gone = new Set(places);
    const kept = seen.messages.filter((_, place) => !gone.has(place));
    this.#shortened(seen, kept, chosen);
  }

  #shortened(seen: LineSeen, kept: readonly LineMessage[], chosen: Entry<LineBody>): void {
    if (this.#seen !== seen || chosen.seq !== this.#head + 1) return;
    const shorter = new Seen(chosen.seq);
    for (const message of kept) shorter.add(message);
    this.#seen = shorter;
    this.#head = chosen.seq;
  }

  /** The newest messages of the line, oldest first; not cached. */
  async newest(limit: number): Promise<readonly LineMessage[]> {
    const { seq: head } = await this.#session.head();
    return this.#read(head, limit);
  }

  /** Returns false if the active line has changed. */
  async #follow(seen: Seen): Promise<boolean> {
    // Reading the head costs a fraction of reading entries.
    if ((await this.#session.head()).seq === this.#head) return true;
    for (;;) {
      const entries = await this.#session.read({ from: this.#head + 1, limit: PAGE });
      if (!this.#add(seen, entries)) return false;
      if (entries.length < PAGE) return true;
    }
  }

  #add(seen: Seen, entries: readonly Entry[]): boolean {
    for (const entry of entries) {
      if (entry.kind === "line" || entry.kind === "redacted" || entry.kind === "damaged") return false;
      if (entry.kind === "message" && !isRecalled(entry)) seen.add(this.#message(entry));
      this.#head = entry.seq;
    }
    return true;
  }

  async #load(): Promise<Seen> {
    const { seq: head } = await this.#session.head();
    const [line] = await this.#session.lines(1);
    const messages = await this.#read(head, MOST_MESSAGES + 1);
    if (messages.length > MOST_MESSAGES) throw tooLong(this.#session.id);
    this.#head = head;
    const seen = new Seen(line?.seq ?? 0);
    for (const message of messages) seen.add(message);
    return seen;
  }

  /** The newest messages of the line up to `head`; later ones are read by the next `look`. */
  async #read(head: number, most: number): Promise<readonly LineMessage[]> {
    const pages: (readonly LineMessage[])[] = [];
    let left = most;
    for (let before: Cursor | undefined; left > 0; ) {
      const options = { kinds: ["message"], limit: Math.min(left, PAGE) } as const;
      const page = await this.#session.page(before === undefined ? options : { ...options, before });
      const isOld = ({ session, seq }: Entry) => session !== this.#session.id || seq <= head;
      const said = page.entries.filter((entry) => isOld(entry) && !isRecalled(entry));
      pages.push(said.map((entry) => this.#message(entry)));
      left -= said.length;
      before = page.before;
      if (before === undefined) break;
    }
    return pages.reverse().flat();
  }

  #message(entry: Entry): LineMessage {
    const { id } = entry;
    const seq = entry.session === this.#session.id ? entry.seq : undefined;
    // A damaged message keeps its place under a key that no caller has, so that the caller's own message replaces it.
    if (entry.kind !== "message") return { id, seq, key: `damaged ${id}`, role: "user", parts: 0 };
    const { message } = entry;
    return { id, seq, key: this.#keyOf(message), role: message.role, parts: message.parts.length };
  }
}

class Seen implements LineSeen {
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

function tooLong(session: string): LonghaulError {
  return new LonghaulError(
    "ARGUMENT_INVALID",
    `Session ${JSON.stringify(session)} has more than ${MOST_MESSAGES} messages, too many to compare with a caller's; set history: "session" and say only what is new.`,
    { details: { session } },
  );
}
