import type { Draft, Entry, EntryId, MessageInput, Session } from "../../index.ts";
import type { JsonObject, ReplyReader, WireEvent } from "../api/api.ts";

/** Told the id of a reply, and the entry that it becomes; undefined if it is not whole. */
export type NameReply = (
  response: string,
  entry: Promise<EntryId | undefined>,
  items: readonly JsonObject[],
) => Promise<void>;

/** Least time between two states of a reply that are handed to its draft. */
const DRAFT_MS = 1_000;

/** Appends a reply; returns its entry where it is whole. */
export type AppendReply = (session: Session) => Promise<Entry | undefined>;

/** Where a reply belongs. */
export interface ReplyPlace {
  /** Carries out `append` behind what the reply answers. */
  append(append: AppendReply, reader: ReplyReader): Promise<void>;
  /** Stores what it used; the last thing that happens to a reply. */
  report(reader: ReplyReader): Promise<void>;
  /** Does beforehand what would take `stored` long. */
  prepare(message: MessageInput): Promise<void>;
  /** The message as it is stored. */
  stored(message: MessageInput): MessageInput;
}

/** Writes a reply down while it passes: a draft at first, a message when its own end was seen. */
export class Recorder {
  readonly reader: ReplyReader;
  /** When the reply was whole, as `performance.now()` says. */
  completedMs: number | undefined;
  readonly #session: Session;
  readonly #place: ReplyPlace;
  #draft: Draft | undefined;
  #draftedMs = performance.now();
  #isDrafting = false;
  #appended: Promise<void> | undefined;
  #ended: Promise<void> | undefined;

  constructor(session: Session, reader: ReplyReader, place: ReplyPlace) {
    this.reader = reader;
    this.#session = session;
    this.#place = place;
  }

  take(event: WireEvent): void {
    this.reader.take(event);
    if (this.reader.isComplete) this.#appendSoon();
    else this.#drafted();
  }

  takeWhole(body: string): void {
    this.reader.takeWhole(body);
    this.#appendSoon();
  }

  /** The reply is over, whole or not; what there is of it stays. Idempotent. */
  end(): Promise<void> {
    this.#ended ??= this.#append().then(() => this.#place.report(this.reader));
    return this.#ended;
  }

  /**
   * A client may ask again as soon as it has seen the end, which need not be that of the bytes: what it asks is read in the
   * next round of the event loop, and the reply is written down at the end of this one, when its bytes are on their way.
   */
  #appendSoon(): void {
    this.completedMs ??= performance.now();
    setImmediate(() => this.#append());
  }

  #append(): Promise<void> {
    if (this.#appended) return this.#appended;
    this.#appended = this.#place.append((session) => this.#write(session), this.reader);
    // Whoever ends the reply is told; until then nobody listens.
    this.#appended.catch(() => undefined);
    return this.#appended;
  }

  async #write(session: Session): Promise<Entry | undefined> {
    const message = await this.#message();
    if (!message) await this.#draft?.discard();
    else if (this.reader.isComplete && !this.reader.failure)
      return this.#draft ? this.#draft.finish(message) : session.append(message);
    else {
      const draft = this.#draft ?? session.draft(message);
      draft.update(message);
      await draft.close();
    }
    return undefined;
  }

  #drafted(): void {
    const now = performance.now();
    if (this.#appended || this.#isDrafting || now - this.#draftedMs < DRAFT_MS) return;
    this.#draftedMs = now;
    this.#isDrafting = true;
    // A draft that fails is made up for by the reply itself, whose failure is told.
    this.#updateDraft().catch(() => undefined);
  }

  async #updateDraft(): Promise<void> {
    try {
      const message = await this.#message();
      if (!message || this.#appended) return;
      if (this.#draft) this.#draft.update(message);
      else this.#draft = this.#session.draft(message);
    } finally {
      this.#isDrafting = false;
    }
  }

  async #message(): Promise<MessageInput | undefined> {
    const message = this.reader.message();
    if (!message) return undefined;
    await this.#place.prepare(message);
    return this.#place.stored(message);
  }
}
