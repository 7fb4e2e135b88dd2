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
  /** Its seq, if it is an entry of the session itself and not of one that it was forked from. */
  readonly seq: number | undefined;
  readonly key: string;
  readonly role: Role;
  /** How many parts it has in the log. */
  readonly parts: number;
}

/** A line as far as it is known. */
export interface LineSeen {
  /** Seq of the entry that chose it. */
  readonly lineSeq: number;
  /** Grows while it is the active line. */
  readonly messages: readonly LineMessage[];
  /** Keys and roles of the messages. */
  readonly keys: readonly string[];
  readonly roles: readonly Role[];
  /** Place of an entry among the messages. */
  placeOf(id: EntryId): number | undefined;
  /** The same for entries of the session itself; faster. */
  placeOfSeq(seq: number): number | undefined;
}

/** Callers who hand over whole conversations hold them in memory themselves; longer ones are left to the session. */
const MOST_MESSAGES = 200_000;
const PAGE = 1_000;

/** Says what a message of the log says, as a key: messages of the same key say the same. */
export type KeyOf = (message: Message) => string;

/** What the active line of a session says, kept up to date with the log whoever writes to it. */
export class KnownLine {
  readonly #session: Session;
  readonly #keyOf: KeyOf;
  #seen: Seen | undefined;
  #head = 0;

  constructor(session: Session, keyOf: KeyOf) {
    this.#session = session;
    this.#keyOf = keyOf;
  }

  /** Looks what is new. */
  async look(): Promise<LineSeen> {
    if (this.#seen && (await this.#follow(this.#seen))) return this.#seen;
    this.#seen = await this.#load();
    return this.#seen;
  }

  /** Takes in entries that were just appended, so that they need not be read again; false if others stand between. */
  appended(entries: readonly Entry[]): boolean {
    const isNext = entries.every(({ seq }, index) => seq === this.#head + 1 + index);
    return this.#seen !== undefined && isNext && this.#add(this.#seen, entries);
  }

  /** Takes in that the line was just made to end with its message at `place`, so that it need not be read again. */
  rewound(seen: LineSeen, place: number, chosen: Entry<LineBody>): void {
    this.#shortened(seen, seen.messages.slice(0, place + 1), chosen);
  }

  /** Notes that the messages at `places` were just taken off the line, so that the line need not be read again. */
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

  /** The newest messages of the line, oldest first; nothing of it is kept. */
  async newest(limit: number): Promise<readonly LineMessage[]> {
    const { seq: head } = await this.#session.head();
    return this.#read(head, limit);
  }

  /** False if the line is another one now. */
  async #follow(seen: Seen): Promise<boolean> {
    // Asking where the log ends costs a fraction of reading what is behind.
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

  /** The newest messages of the line up to the head; what is appended meanwhile comes with the next look. */
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
    // A damaged message keeps its place under a key that no caller has, so that the caller's own takes it.
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

/** Recalled text stands before what the user said; no caller knows of it. */
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
