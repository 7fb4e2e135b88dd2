import { setImmediate } from "node:timers/promises";
import type { WorkMeter } from "../model/base/work-meter.ts";
import type { SessionId } from "../model/entry.ts";
import { isLonghaulError, LonghaulError } from "../model/errors.ts";
import type { Closable } from "../model/lifetime.ts";
import type { AppendOutcome, AppendRequest, AppendResult, EntryStore } from "./store/entry-store.ts";

/** Maximum requests and bytes of one transaction. */
const MAX_GROUP = 1_024;
const MAX_GROUP_BYTES = 4 * 1024 * 1024;
/**
 * An append loop that never leaves the microtask queue would starve timers and sockets; it must yield after this time.
 */
const MAX_TURN_MS = 8;

/** An append request with its size in the queue. */
export interface SizedRequest {
  readonly request: AppendRequest;
  readonly sizeBytes: number;
}

interface Caller {
  readonly resolve: (appended: AppendResult) => void;
  readonly reject: (error: unknown) => void;
}

type WaitingRequest = Caller & SizedRequest;

/**
 * Group commit: all appends of one tick, from all sessions, share one transaction, and each promise resolves after the
 * commit. Requests are executed in the order they were added, and none fails because of another. When too many bytes are
 * queued, further requests are not even built until there is room.
 */
export class CommitQueue implements Closable {
  readonly #entries: EntryStore;
  readonly #maxQueuedBytes: number;
  readonly #meter: WorkMeter | undefined;
  readonly #parked: (Caller & { readonly make: () => SizedRequest })[] = [];
  #waiting: WaitingRequest[] = [];
  #committing: readonly WaitingRequest[] = [];
  #queuedBytes = 0;
  #running: Promise<void> | undefined;
  #turnStartedMs = performance.now();
  #closed = false;

  /** The meter counts messages and commits. */
  constructor(entries: EntryStore, maxQueuedBytes: number, meter?: WorkMeter) {
    this.#entries = entries;
    this.#meter = meter;
    this.#maxQueuedBytes = maxQueuedBytes;
  }

  /** Adds the request that `make` returns: at once if the queue has room, else as soon as it has. */
  add(make: () => SizedRequest): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new LonghaulError("CLOSED", "This kernel is closed; open a new one.");
      const isFull = this.#queuedBytes >= this.#maxQueuedBytes;
      if (isFull || this.#parked.length > 0) this.#parked.push({ make, resolve, reject });
      else this.#enter(make(), resolve, reject);
      this.#running ??= this.#run();
    });
  }

  /** True if a request for a session may not be committed yet. */
  hasPending(session: SessionId): boolean {
    // Requests that were not built yet are not known to belong to other sessions.
    if (this.#parked.length > 0) return true;
    const isOwn = ({ request }: WaitingRequest) => request.session === session;
    return this.#waiting.some(isOwn) || this.#committing.some(isOwn);
  }

  /** Resolves when all requests so far are committed or refused. */
  async flush(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async close(): Promise<void> {
    await this.flush();
    this.#closed = true;
  }

  #enter({ request, sizeBytes }: SizedRequest, resolve: Caller["resolve"], reject: Caller["reject"]): void {
    this.#waiting.push({ request, sizeBytes, resolve, reject });
    this.#queuedBytes += sizeBytes;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // The end of the microtask, or after MAX_TURN_MS of the event-loop turn.
      const isLate = performance.now() - this.#turnStartedMs >= MAX_TURN_MS;
      await (isLate ? setImmediate() : undefined);
      if (isLate) this.#turnStartedMs = performance.now();
      const group = this.#takeGroup();
      this.#committing = group;
      const startedMs = performance.now();
      await this.#commit(group);
      this.#committing = [];
      const savedMs = performance.now() - startedMs;
      for (const { request, sizeBytes } of group) {
        this.#queuedBytes -= sizeBytes;
        for (const { kind, payload } of request.entries)
          if (kind === "message") this.#meter?.addMessage(payload.byteLength);
      }
      this.#meter?.addSave(savedMs, this.#queuedBytes);
      if (this.#parked.length > 0) this.#admitParked();
    }
    this.#running = undefined;
  }

  #takeGroup(): readonly WaitingRequest[] {
    let bytes = 0;
    for (const [index, { sizeBytes }] of this.#waiting.entries()) {
      bytes += sizeBytes;
      if (index > 0 && (index === MAX_GROUP || bytes > MAX_GROUP_BYTES))
        return this.#waiting.splice(0, index);
    }
    const all = this.#waiting;
    this.#waiting = [];
    return all;
  }

  async #commit(group: readonly WaitingRequest[]): Promise<void> {
    try {
      const outcomes = await this.#entries.append(group.map(({ request }) => request));
      if (this.#committing === group) this.#committing = [];
      for (let index = 0; index < group.length; index++) {
        const caller = group[index] as Caller;
        const outcome = outcomes[index] as AppendOutcome;
        if (outcome instanceof Error) caller.reject(outcome);
        else caller.resolve(outcome);
      }
    } catch (error) {
      if (group.length > 1 && isCausedByOne(error)) await this.#commitHalves(group);
      else for (const { reject } of group) reject(error);
    }
  }

  /** Nothing of the group is stored, because of one request or because it did not fit: parts of it may be. */
  async #commitHalves(group: readonly WaitingRequest[]): Promise<void> {
    const middle = group.length >> 1;
    await this.#commit(group.slice(0, middle));
    await this.#commit(group.slice(middle));
  }

  #admitParked(): void {
    while (this.#parked.length > 0 && this.#queuedBytes < this.#maxQueuedBytes) {
      const { make, resolve, reject } = this.#parked.shift() as Caller & { make: () => SizedRequest };
      try {
        this.#enter(make(), resolve, reject);
      } catch (error) {
        reject(error);
      }
    }
  }
}

/** True unless the failure concerns the store as a whole, which parts of the group would only repeat. */
function isCausedByOne(error: unknown): boolean {
  return !isLonghaulError(error) || error.code === "DISK_FULL" || error.code === "VALUE_REFUSED";
}
