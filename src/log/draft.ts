import { OWNER_LEASE_MS } from "../base/owner.ts";
import { checkKind } from "../model/arguments.ts";
import { inputParts } from "../model/check-message.ts";
import type { Entry, MessageBody, SessionId } from "../model/entry.ts";
import { invalidArgument, isLonghaulError, LonghaulError } from "../model/errors.ts";
import type { Message, MessageInput } from "../model/message.ts";
import type { PartInput } from "../model/part.ts";
import type { Closable, Scope } from "../model/scope.ts";
import type { Ready } from "./absorb.ts";
import type { Log } from "./log.ts";

/**
 * A message that is still being written. Updates are kept in memory and reach the store at most once an interval; the
 * log gets the message once, when it is finished. If the process dies first, the last stored state becomes an
 * interrupted message when the session is next opened.
 */
export class Draft implements Closable, AsyncDisposable {
  readonly id: string;
  readonly session: SessionId;
  readonly #log: Log;
  readonly #owner: string;
  readonly #scope: Scope;
  #content: MessageInput;
  /** Text that came in pieces and is joined only when it is written. */
  #pieces: string[] = [];
  #isWriting = false;
  #isDirty = false;
  #isStored = false;
  #lastWriteMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #timerDueMs = 0;
  #writing: Promise<void> = Promise.resolve();
  #ended: Promise<unknown> | undefined;

  constructor(parts: { session: SessionId; log: Log; owner: string; scope: Scope; start: MessageInput }) {
    inputParts(parts.start);
    this.id = parts.log.ids.next();
    this.session = parts.session;
    this.#log = parts.log;
    this.#owner = parts.owner;
    this.#scope = parts.scope;
    this.#content = parts.start;
    parts.scope.own(this);
    parts.scope.census.opened("draft");
    if (!isEmpty(parts.start)) this.update(parts.start);
  }

  /** Replaces the content so far. */
  update(message: MessageInput): void {
    this.#assertOpen();
    inputParts(message);
    refuseStreams(message);
    this.#content = message;
    this.#pieces = [];
    this.#touch();
  }

  /** Adds to the last text part, as tokens arrive. */
  write(text: string): void {
    this.#assertOpen();
    this.#pieces.push(checkKind("text", text, "text"));
    this.#touch();
  }

  /** The content so far. */
  get content(): MessageInput {
    if (this.#pieces.length > 0) {
      this.#content = withText(this.#content, this.#pieces.join(""));
      this.#pieces = [];
    }
    return this.#content;
  }

  /** Stores what is not stored yet, without waiting for the interval. */
  async flush(): Promise<void> {
    this.#cancelTimer();
    const writing = this.#isDirty ? this.#writing.then(() => this.#store()) : this.#writing;
    // A write that failed must not stand in the way of the next one.
    this.#writing = writing.catch(() => undefined);
    await writing;
    if (!this.#ended) this.#plan(OWNER_LEASE_MS / 3);
  }

  /** Appends the message to the log; the draft is gone with the same commit. */
  async finish(message?: MessageInput): Promise<Entry<MessageBody>> {
    if (message) this.update(message);
    return this.#end(() => this.#append({}));
  }

  /** Drops the draft. */
  async discard(): Promise<void> {
    return this.#end(async () => {
      if (this.#isStored) await this.#log.store.drafts.delete(this.id);
    });
  }

  /** Ends a draft that nobody finished: what there is of it is appended as interrupted. Idempotent. */
  async close(): Promise<void> {
    if (this.#ended) return this.#ended.then(() => undefined);
    if (isEmpty(this.content)) return this.discard();
    await this.#end(() => this.#append({ interrupted: true }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #end<T>(last: () => Promise<T>): Promise<T> {
    this.#assertOpen();
    this.#cancelTimer();
    const ending = this.#writing.then(last);
    this.#ended = ending.then(
      () => this.#release(),
      (error) => {
        // Nothing was appended: the draft stays open, so that the caller can try again.
        this.#ended = undefined;
        throw error;
      },
    );
    this.#ended.catch(() => undefined);
    return ending;
  }

  async #append(flags: Pick<Message, "interrupted">): Promise<Entry<MessageBody>> {
    const ready = flagged(await this.#log.ready(this.content), flags);
    try {
      return await this.#log.appendOne(this.session, ready, this.#isStored ? { finishes: this.id } : {});
    } catch (error) {
      if (!isLonghaulError(error, "DRAFT_FINISHED")) throw error;
      // Someone took this writer for dead and kept what there was; the whole message must not be lost for that.
      this.#isStored = false;
      return this.#append(flags);
    }
  }

  #release(): void {
    this.#scope.release(this);
    this.#scope.census.closed("draft");
  }

  #touch(): void {
    this.#isDirty = true;
    this.#plan(this.#lastWriteMs + this.#log.limits.draftIntervalMs - performance.now());
  }

  /** Sets the timer unless an earlier one is set. */
  #plan(delayMs: number): void {
    const waitMs = Math.max(delayMs, 0);
    const dueMs = performance.now() + waitMs;
    if (this.#timer && this.#timerDueMs <= dueMs) return;
    this.#cancelTimer();
    this.#timerDueMs = dueMs;
    this.#timer = setTimeout(() => this.#onTimer(), waitMs).unref();
  }

  #onTimer(): void {
    this.#timer = undefined;
    // A store slower than the interval gets the next write only after this one.
    if (this.#isWriting) return this.#plan(this.#log.limits.draftIntervalMs);
    // A heartbeat stores the same content again, which tells others that the writer lives.
    if (this.#isStored) this.#isDirty = true;
    // A failed write is not lost: the content is still here, and finish() will report what is wrong with the store.
    this.flush().catch(() => this.#plan(this.#log.limits.draftIntervalMs));
  }

  #cancelTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #store(): Promise<void> {
    if (!this.#isDirty) return;
    this.#isDirty = false;
    this.#isWriting = true;
    this.#lastWriteMs = performance.now();
    try {
      const { body, blobs, holds } = flagged(await this.#log.ready(this.content), { interrupted: true });
      await this.#log.store.drafts.write({
        id: this.id,
        session: this.session,
        owner: this.#owner,
        at: this.#log.clock.now(),
        payload: this.#log.encode(body),
        ...(blobs && { blobs }),
        ...(holds && { holds }),
      });
      this.#isStored = true;
    } catch (error) {
      this.#isDirty = true;
      throw error;
    } finally {
      this.#isWriting = false;
    }
  }

  #assertOpen(): void {
    if (!this.#ended) return;
    throw new LonghaulError("DRAFT_FINISHED", `Draft ${this.id} was finished or discarded; open a new one.`, {
      details: { draft: this.id },
    });
  }
}

function flagged(ready: Ready<MessageBody>, flags: Pick<Message, "interrupted">): Ready<MessageBody> {
  return { ...ready, body: { kind: "message", message: { ...ready.body.message, ...flags } } };
}

/** A draft is written more than once, and a stream can be read only once. */
function refuseStreams(message: MessageInput): void {
  for (const part of message.parts ?? []) {
    const inner = part.type === "tool-result" && typeof part.output !== "string" ? part.output : [part];
    for (const { type, ...rest } of inner) {
      const { data } = rest as { data?: unknown };
      if (type !== "data" || typeof data === "string" || data instanceof Uint8Array) continue;
      throw invalidArgument(
        "data of a draft",
        data,
        "bytes or base64, because a draft is written more than once",
      );
    }
  }
}

function isEmpty(message: MessageInput): boolean {
  return !message.text && (message.parts?.length ?? 0) === 0;
}

function withText(message: MessageInput, added: string): MessageInput {
  const parts: readonly PartInput[] =
    message.text !== undefined ? [{ type: "text", text: message.text }] : (message.parts ?? []);
  const last = parts.at(-1);
  const joined: PartInput[] =
    last?.type === "text"
      ? [...parts.slice(0, -1), { type: "text", text: last.text + added }]
      : [...parts, { type: "text", text: added }];
  const { text: _, ...rest } = message;
  return { ...rest, parts: joined };
}
