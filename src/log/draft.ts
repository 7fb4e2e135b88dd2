import { checkKind } from "../model/argument-checks.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { OWNER_LEASE_MS } from "../model/base/owner.ts";
import {
  checkMessageParts,
  checkUsageBody,
  type Entry,
  type EntryBody,
  type MessageBody,
  type SessionId,
  type UsageBody,
} from "../model/entry.ts";
import { createArgumentError, isLonghaulError, LonghaulError } from "../model/errors.ts";
import type { Closable, Lifetime } from "../model/lifetime.ts";
import type { Message, MessageInput } from "../model/message.ts";
import type { PartInput } from "../model/part.ts";
import { type AppendOptions, NO_OPTIONS, type ReplyEntries, toExtras } from "./appender.ts";
import { type AppendExtras, type Log, NO_EXTRAS } from "./log.ts";
import type { ReadyBody } from "./spilled-parts.ts";

/**
 * A message that is still being written. Updates stay in memory and are stored at most once per interval; the log gets
 * the message once, when it is finished. If the process dies first, the last stored state becomes an interrupted
 * message when the session is next opened.
 */
export class Draft implements Closable, AsyncDisposable {
  readonly id: string;
  readonly session: SessionId;
  readonly #log: Log;
  readonly #owner: string;
  readonly #lifetime: Lifetime;
  #content: MessageInput;
  /** Streamed text that is joined only when it is stored. */
  #pieces: string[] = [];
  #isWriting = false;
  #isDirty = false;
  #isStored = false;
  #lastWriteMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #timerDueMs = 0;
  #writing: Promise<void> = Promise.resolve();
  #ended: Promise<unknown> | undefined;

  constructor(parts: {
    session: SessionId;
    log: Log;
    owner: string;
    lifetime: Lifetime;
    start: MessageInput;
  }) {
    checkMessageParts(parts.start);
    this.id = parts.log.ids.next();
    this.session = parts.session;
    this.#log = parts.log;
    this.#owner = parts.owner;
    this.#lifetime = parts.lifetime;
    this.#content = parts.start;
    parts.lifetime.own(this);
    parts.lifetime.census.opened("draft");
    if (!isEmpty(parts.start)) this.update(parts.start);
  }

  /** Replaces the content so far. */
  update(message: MessageInput): void {
    this.#assertOpen();
    checkMessageParts(message);
    refuseStreams(message);
    this.#content = message;
    this.#pieces = [];
    this.#touch();
  }

  /** Appends streamed text to the last text part. */
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

  /** Stores unsaved content without waiting for the interval. */
  async flush(): Promise<void> {
    this.#cancelTimer();
    const writing = this.#isDirty ? this.#writing.then(() => this.#store()) : this.#writing;
    // A failed write must not block the next one.
    this.#writing = writing.catch(() => undefined);
    await writing;
    if (!this.#ended) this.#plan(OWNER_LEASE_MS / 3);
  }

  /** Appends the message to the log; the same commit removes the draft. */
  async finish(message?: MessageInput, options: AppendOptions = NO_OPTIONS): Promise<Entry<MessageBody>> {
    if (message) this.update(message);
    const extras = toExtras(options);
    return this.#end(async () => (await this.#append({}, [], extras))[0]);
  }

  /** `finish` for a reply, with the usage report of its call in the same commit. */
  async finishReply(
    message: MessageInput,
    usage: UsageBody,
    options: AppendOptions = NO_OPTIONS,
  ): Promise<ReplyEntries> {
    const ready = { body: checkUsageBody(usage) };
    this.update(message);
    const extras = toExtras(options);
    return this.#end(async () => {
      const [reply, report] = await this.#append({}, [ready], extras);
      return [reply, report as Entry<UsageBody>];
    });
  }

  async discard(): Promise<void> {
    return this.#end(async () => {
      if (this.#isStored) await this.#log.store.drafts.delete(this.id);
    });
  }

  /** Ends an unfinished draft: appends its content as an interrupted message. Idempotent. */
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
        // Nothing was appended, so the draft stays open for another try.
        this.#ended = undefined;
        throw error;
      },
    );
    this.#ended.catch(() => undefined);
    return ending;
  }

  /** Appends the message and, in the same commit, the bodies that follow it. */
  async #append(
    flags: Pick<Message, "interrupted">,
    following: readonly ReadyBody[] = [],
    position: AppendExtras = NO_EXTRAS,
  ): Promise<readonly [Entry<MessageBody>, ...Entry[]]> {
    const ready = addFlags(await this.#log.prepare(this.content), flags);
    try {
      const extras = this.#isStored ? { ...position, finishes: this.id } : position;
      const [message, ...others] = await this.#log.append<EntryBody>(
        this.session,
        [ready, ...following],
        extras,
      );
      return [message as Entry<MessageBody>, ...others];
    } catch (error) {
      if (!isLonghaulError(error, "DRAFT_FINISHED")) throw error;
      // Another process took this writer for dead and stored the partial message; append the complete one anyway.
      this.#isStored = false;
      return this.#append(flags, following, position);
    }
  }

  #release(): void {
    this.#lifetime.release(this);
    this.#lifetime.census.closed("draft");
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
    if (this.#isWriting) {
      this.#plan(this.#log.limits.draftIntervalMs);
      return;
    }
    // A heartbeat stores the same content again, to show that the writer is alive.
    if (this.#isStored) this.#isDirty = true;
    // The content of a failed write is still in memory, and finish() will report the store's error.
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
      const { body, blobs, holds } = addFlags(await this.#log.prepare(this.content), { interrupted: true });
      await this.#log.store.drafts.write({
        id: this.id,
        session: this.session,
        owner: this.#owner,
        at: this.#log.clock.now(),
        payload: this.#log.encode(body),
        ...dropUndefined({ blobs, holds }),
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

function addFlags(
  ready: ReadyBody<MessageBody>,
  flags: Pick<Message, "interrupted">,
): ReadyBody<MessageBody> {
  return { ...ready, body: { kind: "message", message: { ...ready.body.message, ...flags } } };
}

/** Refuses streams, which can be read only once, because a draft is stored repeatedly. */
function refuseStreams(message: MessageInput): void {
  for (const part of message.parts ?? []) {
    const inner = part.type === "tool-result" && typeof part.output !== "string" ? part.output : [part];
    for (const { type, ...rest } of inner) {
      const { data } = rest as { data?: unknown };
      if (type !== "data" || typeof data === "string" || data instanceof Uint8Array) continue;
      throw createArgumentError(
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
