import { checkFields } from "../model/argument-checks.ts";
import {
  checkUsageBody,
  type Entry,
  type EntryBody,
  type MessageBody,
  type SessionId,
  type UsageBody,
} from "../model/entry.ts";
import { checkWholeNumber, createArgumentError, throwIfAborted } from "../model/errors.ts";
import type { MessageInput } from "../model/message.ts";
import { type AppendExtras, type Log, NO_EXTRAS } from "./log.ts";
import { preparePlain, type ReadyBody } from "./spilled-parts.ts";

/** Options of an append. */
export interface AppendOptions {
  /** Fails with POSITION_CONFLICT unless this is the session's last seq. */
  readonly expectedHead?: number;
  /** Aborts while the message's data is being stored; a commit that has begun is not undone. */
  readonly signal?: AbortSignal;
}

export const NO_OPTIONS: AppendOptions = {};

/** A reply and the usage report of its call. */
export type ReplyEntries = readonly [Entry<MessageBody>, Entry<UsageBody>];

/** Appends to one session in call order, even if some messages have data to store first. */
export class Appender {
  readonly #log: Log;
  readonly #session: SessionId;
  /** The append whose data is being stored; later appends wait for it. */
  #preparing: Promise<void> | undefined;

  constructor(log: Log, session: SessionId) {
    this.#log = log;
    this.#session = session;
  }

  /** Appends one message; throws synchronously if it is invalid. */
  message(input: MessageInput, options: AppendOptions): Promise<Entry<MessageBody>> {
    const isPlain = !this.#preparing && options === NO_OPTIONS;
    const ready = isPlain ? preparePlain(input, this.#log.limits.spillBytes) : undefined;
    if (ready) return this.#log.appendOne(this.#session, ready);
    return this.messages([input], options).then(([entry]) => entry as Entry<MessageBody>);
  }

  /** Appends messages consecutively; all or none. Throws ARGUMENT_INVALID unless they are an array within `maxBatch`. */
  messages(inputs: readonly MessageInput[], options: AppendOptions): Promise<readonly Entry<MessageBody>[]> {
    const { maxBatch } = this.#log.limits;
    if (!Array.isArray(inputs) || inputs.length > maxBatch)
      throw createArgumentError(
        "messages",
        inputs,
        `an array of at most ${maxBatch} messages; append more in several calls`,
      );
    if (inputs.length === 0) return Promise.resolve([]);
    const extras = toExtras(options);
    const ready = this.#preparing ? undefined : this.#prepareNow(inputs);
    return ready
      ? this.#log.append(this.#session, ready, extras)
      : (this.#afterPreparing(inputs, extras, options.signal) as Promise<readonly Entry<MessageBody>[]>);
  }

  /** Appends a body that needs no blob. */
  async body<Body extends EntryBody>(body: Body): Promise<Entry<Body>> {
    if (!this.#preparing) return this.#log.appendOne(this.#session, { body });
    const { committing } = await this.#inOrder(async () => ({
      committing: this.#log.appendOne(this.#session, { body }),
    }));
    return committing;
  }

  /** Appends a reply and the usage report of its call in one commit. */
  async reply(input: MessageInput, usage: UsageBody, options: AppendOptions): Promise<ReplyEntries> {
    const report = { body: checkUsageBody(usage) };
    const extras = toExtras(options);
    const ready = this.#preparing ? undefined : this.#prepareNow([input]);
    const entries = ready
      ? this.#log.append<EntryBody>(this.#session, [...ready, report], extras)
      : this.#afterPreparing([input], extras, options.signal, [report]);
    return (await entries) as readonly Entry[] as ReplyEntries;
  }

  /** Resolves when all appends so far are committed or refused. */
  async flush(): Promise<void> {
    while (this.#preparing) await this.#preparing;
    if (this.#log.hasPending(this.#session)) await this.#log.flush();
  }

  #prepareNow(inputs: readonly MessageInput[]): readonly ReadyBody<MessageBody>[] | undefined {
    const ready: ReadyBody<MessageBody>[] = [];
    for (const input of inputs) {
      const one = preparePlain(input, this.#log.limits.spillBytes);
      if (!one) return undefined;
      ready.push(one);
    }
    return ready;
  }

  async #afterPreparing(
    inputs: readonly MessageInput[],
    extras: AppendExtras,
    signal: AbortSignal | undefined,
    following: readonly ReadyBody[] = [],
  ): Promise<readonly Entry[]> {
    const { committing } = await this.#inOrder(async () => {
      const prepared: ReadyBody[] = [];
      for (const input of inputs) prepared.push(await this.#log.prepare(input, signal));
      prepared.push(...following);
      // Wrapped, so that the next append waits until this one is queued, not until it is committed.
      return { committing: this.#log.append(this.#session, prepared, extras) };
    });
    return committing;
  }

  async #inOrder<T>(prepare: () => Promise<T>): Promise<T> {
    const mine = (this.#preparing ?? Promise.resolve()).then(prepare);
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#preparing = settled;
    try {
      return await mine;
    } finally {
      if (this.#preparing === settled) this.#preparing = undefined;
    }
  }
}

/** Checks the options of an append; throws if its signal is aborted. */
export function toExtras(options: AppendOptions): AppendExtras {
  if (options === NO_OPTIONS) return NO_EXTRAS;
  checkFields("options", options, { signal: "signal?" });
  throwIfAborted(options.signal);
  const { expectedHead } = options;
  return expectedHead === undefined
    ? NO_EXTRAS
    : { expectedHead: checkWholeNumber("expectedHead", expectedHead, 0) };
}
