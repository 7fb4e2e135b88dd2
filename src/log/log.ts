import { CacheRegistry } from "../model/base/caches.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { WorkMeter } from "../model/base/work-meter.ts";
import type { Clock, Ids } from "../model/clock.ts";
import type { Entry, EntryBody, MessageBody, SessionId } from "../model/entry.ts";
import { LonghaulError } from "../model/errors.ts";
import type { MessageInput } from "../model/message.ts";
import type { Blobs } from "./blobs.ts";
import { encodePayload } from "./codec.ts";
import type { CommitQueue, SizedRequest } from "./commit-queue.ts";
import { buildEntry, writeBody } from "./entry-body.ts";
import { ErasedWords } from "./erasing/erased-words.ts";
import type { Limits } from "./limits.ts";
import { absorbMessage, type PutBlob, preparePlain, type ReadyBody } from "./spilled-parts.ts";
import type { AppendRequest, AppendResult, NewEntry } from "./store/entry-store.ts";
import type { Store } from "./store/store.ts";

/** Options of an append in addition to its bodies. */
export type AppendExtras = Pick<AppendRequest, "expectedHead" | "create" | "finishes" | "intake" | "task"> & {
  readonly at?: number;
  /** The caller will retry with the same blobs, so a failure must not release their holds. */
  readonly retries?: true;
};

export const NO_EXTRAS: AppendExtras = {};

/** Dependencies of a `Log`. */
export interface LogDeps {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly queue: CommitQueue;
  /** Counts of the work, for the monitor; new ones by default. */
  readonly meter?: WorkMeter;
  readonly caches?: CacheRegistry;
  /** The memory of erased words; one for all logs of a store. */
  readonly erased?: ErasedWords;
}

/** The write path to the store, shared by all sessions of a kernel. */
export class Log {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly meter: WorkMeter;
  readonly caches: CacheRegistry;
  readonly queue: CommitQueue;
  readonly erased: ErasedWords;
  /** Number of appends whose words are not yet compared with erased ones. */
  #waiting = 0;

  constructor(parts: LogDeps) {
    this.store = parts.store;
    this.blobs = parts.blobs;
    this.limits = parts.limits;
    this.clock = parts.clock;
    this.ids = parts.ids;
    this.meter = parts.meter ?? new WorkMeter();
    this.caches = parts.caches ?? new CacheRegistry();
    this.queue = parts.queue;
    this.erased = parts.erased ?? new ErasedWords(parts.store, parts.clock);
  }

  /** Appends bodies consecutively; all or none. Payloads are encoded only when the queue has room. */
  async append<Body extends EntryBody>(
    session: SessionId,
    items: readonly ReadyBody<Body>[],
    extras: AppendExtras = NO_EXTRAS,
  ): Promise<readonly Entry<Body>[]> {
    const { ready, adding } = this.#isQuiet
      ? { ready: items, adding: this.#add(session, items, extras) }
      : await this.#addScreened(session, items, extras);
    const { firstSeq, ats } = await adding;
    const entries: Entry<Body>[] = [];
    for (const [index, { body }] of ready.entries())
      entries.push(buildEntry(session, firstSeq + index, ats[index] as number, body));
    return entries;
  }

  async appendOne<Body extends EntryBody>(
    session: SessionId,
    item: ReadyBody<Body>,
    extras: AppendExtras = NO_EXTRAS,
  ): Promise<Entry<Body>> {
    if (!this.#isQuiet) return (await this.append(session, [item], extras))[0] as Entry<Body>;
    const { firstSeq, ats } = await this.#add(session, [item], extras);
    return buildEntry(session, firstSeq, ats[0] as number, item.body);
  }

  /** The message, with its large parts stored as blobs. */
  async prepare(input: MessageInput, signal?: AbortSignal): Promise<ReadyBody<MessageBody>> {
    const now = preparePlain(input, this.limits.spillBytes);
    if (now) return now;
    const holds: string[] = [];
    const put: PutBlob = async (data, mime) => {
      const { hold, digest, sizeBytes, mime: decided } = await this.blobs.put(data, mime, signal);
      holds.push(hold);
      if (decided.startsWith("image/")) this.meter.addImage(sizeBytes);
      return { digest, sizeBytes, mime: decided };
    };
    try {
      return { ...(await absorbMessage(input, put, this.limits.spillBytes)), holds };
    } catch (error) {
      await this.releaseHolds(holds);
      throw error;
    }
  }

  /** Releases blobs of a failed append; if that fails too, they are collected later. */
  async releaseHolds(holds: readonly string[]): Promise<void> {
    if (holds.length > 0) await this.store.blobs.release(holds).catch(() => undefined);
  }

  /** Encodes a body; throws ENTRY_TOO_LARGE above the limit. */
  encode(body: EntryBody): Uint8Array {
    const text = writeBody(body);
    if (text.length <= this.limits.maxEntryBytes) return encodePayload(text, body.kind);
    throw new LonghaulError(
      "ENTRY_TOO_LARGE",
      `The entry has ${text.length} characters besides its blobs; at most ${this.limits.maxEntryBytes} are kept in one. Split it, or raise limits.maxEntryBytes.`,
      { details: { characters: text.length, maxBytes: this.limits.maxEntryBytes } },
    );
  }

  /** True if an append of a session may not be committed yet. */
  hasPending(session: SessionId): boolean {
    return this.#waiting > 0 || this.queue.hasPending(session);
  }

  async flush(): Promise<void> {
    while (this.#waiting > 0) await this.erased.prepare();
    await this.queue.flush();
  }

  /** True if nothing was erased and no append waits for a look at that, so that the next one need not wait either. */
  get #isQuiet(): boolean {
    return this.#waiting === 0 && this.erased.isEmpty;
  }

  /** Adds the items without erased words, in the order of the calls. */
  async #addScreened<Body extends EntryBody>(
    session: SessionId,
    items: readonly ReadyBody<Body>[],
    extras: AppendExtras,
  ) {
    this.#waiting++;
    const at = extras.at ?? this.clock.now();
    try {
      await this.erased.prepare();
      const ready = this.erased.screen(session, items, extras.intake !== undefined);
      // Wrapped, so that the caller continues when it is queued, not when it is committed.
      return { ready, adding: this.#add(session, ready, { ...extras, at }) };
    } finally {
      this.#waiting--;
    }
  }

  async #add(session: SessionId, items: readonly ReadyBody[], extras: AppendExtras): Promise<AppendResult> {
    try {
      return await this.queue.add(() => this.#buildRequest(session, items, extras));
    } catch (error) {
      if (!extras.retries) await this.releaseHolds(items.flatMap(({ holds }) => holds ?? []));
      throw error;
    }
  }

  #buildRequest(session: SessionId, items: readonly ReadyBody[], extras: AppendExtras): SizedRequest {
    const at = extras.at ?? this.clock.now();
    let sizeBytes = 0;
    const entries: NewEntry[] = [];
    const holds: string[] = [];
    for (const { body, blobs, places, holds: held, at: own } of items) {
      const payload = this.encode(body);
      sizeBytes += payload.byteLength;
      const entry = { kind: body.kind, at: own ?? at, payload };
      entries.push(blobs || places ? { ...entry, ...dropUndefined({ blobs, places }) } : entry);
      if (held) for (const one of held) holds.push(one);
    }
    if (extras === NO_EXTRAS && holds.length === 0) return { request: { session, entries }, sizeBytes };
    const { at: _at, retries: _retries, ...rest } = extras;
    return { request: { session, entries, ...rest, holds }, sizeBytes };
  }
}
