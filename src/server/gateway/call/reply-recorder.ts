import type { UsageBody } from "../../../kernel/faces/log.ts";
import type { Draft, Entry, EntryId, MessageInput, Session } from "../../../kernel/index.ts";
import type { ReplyReader, WireEvent, WireObject } from "../../../wire/wire.ts";

/** Called with the id of a reply and its future entry; the entry is undefined if the reply is incomplete. */
export type NameReply = (
  response: string,
  entry: Promise<EntryId | undefined>,
  items: readonly WireObject[],
) => Promise<void>;

/** Work to be done before the client receives the end of a reply. */
interface ReplyHooks {
  readonly name?: NameReply | undefined;
  /** Called after the usage was stored, or could not be. */
  readonly onReported?: (() => Promise<void>) | undefined;
}

/** The last event of a stream of Chat Completions; usage precedes it, if there is any. */
const END_MARK = "[DONE]";
/** Minimum time between two updates of a draft. */
const DRAFT_MS = 1_000;

/** The place in the conversation where a reply belongs. */
interface ReplyPlace {
  /** The message in its stored form. */
  toStored(message: MessageInput, isWhole: boolean): Promise<MessageInput>;
  /** Stores the reply after the message that it answers; at its end together with its usage. */
  append(recorder: ReplyRecorder, isEnd: boolean): Promise<void>;
  /** The usage, once it is stored. */
  readonly reported: UsageBody | undefined;
  /** Stores the usage that was not stored with the reply; the final step of a reply. */
  report(reader: ReplyReader): Promise<void>;
}

/** How to write a reply. */
interface WriteOptions {
  /** Fails with POSITION_CONFLICT unless this is the session's last seq. */
  readonly expectedHead?: number | undefined;
  /** The usage to store with a complete reply. */
  readonly usage?: UsageBody | undefined;
}

/** Stores a reply while it is relayed: first as a draft, then as a message once the reply itself has ended. */
export class ReplyRecorder {
  readonly reader: ReplyReader;
  readonly hooks: ReplyHooks;
  /** When the reply was complete, as from `performance.now()`. */
  completedMs: number | undefined;
  readonly #session: Session;
  readonly #place: ReplyPlace;
  #draft: Draft | undefined;
  #draftedMs = performance.now();
  #isDrafting = false;
  #appended: Promise<void> | undefined;
  #ended: Promise<void> | undefined;
  #storing: Promise<void> | undefined;

  constructor(session: Session, reader: ReplyReader, place: ReplyPlace, hooks: ReplyHooks) {
    this.reader = reader;
    this.hooks = hooks;
    this.#session = session;
    this.#place = place;
  }

  /** True once the reply has ended and is not a failure. */
  get isWhole(): boolean {
    return this.reader.isComplete && !this.reader.failure;
  }

  take(event: WireEvent): void {
    this.reader.take(event);
    if (!this.reader.isComplete) this.#updateDraft();
    else this.#complete(this.reader.usage !== undefined || event.data.trim() === END_MARK);
  }

  /** Takes a whole body; returns it as JSON, so that nobody parses it again. */
  takeWhole(body: string): unknown {
    const parsed = this.reader.takeWhole(body);
    this.#complete(true);
    return parsed;
  }

  /**
   * A promise while a complete reply is being stored; it resolves when that is done or has failed. The end of a reply is
   * sent afterwards: the client's next request may reach another gateway, which finds the reply only in the store.
   */
  get storing(): Promise<void> | undefined {
    return this.#storing;
  }

  /** Resolves when nothing of a complete reply is left to store. */
  async waitUntilStored(): Promise<void> {
    while (this.#storing) await this.#storing;
  }

  /** Ends the reply, complete or not; its content so far stays. Idempotent. */
  end(): Promise<void> {
    this.#ended ??= this.#append(true).then(async () => {
      if (this.#place.reported) await this.hooks.onReported?.();
      else await this.#place.report(this.reader).finally(this.hooks.onReported);
    });
    return this.#ended;
  }

  /** Stores a complete reply, and its usage once that is known. */
  #complete(isUsageKnown: boolean): void {
    this.completedMs ??= performance.now();
    if (isUsageKnown ? this.#ended : this.#appended) return;
    const storing: Promise<void> = (isUsageKnown ? this.end() : this.#append(false))
      // `end` reports the error to the exchange.
      .catch(() => undefined)
      .then(() => {
        if (this.#storing === storing) this.#storing = undefined;
      });
    this.#storing = storing;
  }

  #append(isEnd: boolean): Promise<void> {
    if (this.#appended) return this.#appended;
    this.#appended = this.#place.append(this, isEnd);
    // `end` reports the error; until then there is no listener.
    this.#appended.catch(() => undefined);
    return this.#appended;
  }

  /**
   * Writes a message of the reply in its stored form, undefined if it says nothing. Returns its entry if the reply is whole,
   * and that of its usage if there is one.
   */
  async write(
    message: MessageInput | undefined,
    { expectedHead, usage }: WriteOptions,
  ): Promise<readonly Entry[]> {
    const draft = this.#draft;
    if (!message) {
      await draft?.discard();
      return [];
    }
    if (!this.isWhole) {
      const partial = draft ?? this.#session.draft(message);
      partial.update(message);
      await partial.close();
      return [];
    }
    const options = expectedHead === undefined ? {} : { expectedHead };
    if (usage)
      return draft
        ? draft.finishReply(message, usage, options)
        : this.#session.appendReply(message, usage, options);
    return [await (draft ? draft.finish(message, options) : this.#session.append(message, options))];
  }

  #updateDraft(): void {
    const now = performance.now();
    if (this.#appended || this.#isDrafting || now - this.#draftedMs < DRAFT_MS) return;
    this.#draftedMs = now;
    this.#isDrafting = true;
    // A failed draft does no harm: the reply itself follows, and a failure to store the reply is reported.
    this.#writeDraft().catch(() => undefined);
  }

  async #writeDraft(): Promise<void> {
    try {
      const said = this.reader.message();
      const message = said && (await this.#place.toStored(said, false));
      if (!message || this.#appended) return;
      if (this.#draft) this.#draft.update(message);
      else this.#draft = this.#session.draft(message);
    } finally {
      this.#isDrafting = false;
    }
  }
}
