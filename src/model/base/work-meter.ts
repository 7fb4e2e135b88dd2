/** A number of events and their total time. */
interface TimedCount {
  readonly count: number;
  readonly totalMs: number;
  /** End of the last one, in milliseconds since 1970; 0 before the first. */
  readonly lastAt: number;
}

/** A number of things and their bytes. */
export interface SizedCount {
  readonly count: number;
  readonly bytes: number;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Counts the work of one kernel since it was opened. */
export class WorkMeter {
  readonly #messages: Mutable<SizedCount> = { count: 0, bytes: 0 };
  readonly #images: Mutable<SizedCount> = { count: 0, bytes: 0 };
  readonly #freedImages: Mutable<SizedCount> = { count: 0, bytes: 0 };
  readonly #saves: Mutable<TimedCount> = { count: 0, totalMs: 0, lastAt: 0 };
  readonly #searches: Mutable<TimedCount> = { count: 0, totalMs: 0, lastAt: 0 };
  readonly #compactions: Mutable<TimedCount> = { count: 0, totalMs: 0, lastAt: 0 };
  #waitingBytes = 0;

  /** Messages stored. */
  get messages(): SizedCount {
    return { ...this.#messages };
  }

  /** Images stored. */
  get images(): SizedCount {
    return { ...this.#images };
  }

  /** Images and other blobs that left the cache. */
  get freedImages(): SizedCount {
    return { ...this.#freedImages };
  }

  /** Commits of appends. */
  get saves(): TimedCount {
    return { ...this.#saves };
  }

  /** Recalls. */
  get searches(): TimedCount {
    return { ...this.#searches };
  }

  get compactions(): TimedCount {
    return { ...this.#compactions };
  }

  /** Bytes of appends that wait for a commit. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  addMessage(bytes: number): void {
    this.#messages.count++;
    this.#messages.bytes += bytes;
  }

  addImage(bytes: number): void {
    this.#images.count++;
    this.#images.bytes += bytes;
  }

  addFreedImages(count: number, bytes: number): void {
    this.#freedImages.count += count;
    this.#freedImages.bytes += bytes;
  }

  /** Adds a commit, after which `waitingBytes` wait for the next one. */
  addSave(ms: number, waitingBytes: number): void {
    addTime(this.#saves, ms);
    this.#waitingBytes = waitingBytes;
  }

  addSearch(ms: number): void {
    addTime(this.#searches, ms);
  }

  addCompaction(ms: number): void {
    addTime(this.#compactions, ms);
  }
}

function addTime(into: Mutable<TimedCount>, ms: number): void {
  into.count++;
  into.totalMs += ms;
  into.lastAt = Date.now();
}
