import { LonghaulError } from "./errors.ts";

/** A resource that must be closed. */
export interface Closable {
  close(): Promise<void> | void;
}

/** Resources of one kind opened and closed since the kernel started. */
export interface CensusCount {
  readonly opened: number;
  readonly closed: number;
}

/** Counts opened and closed resources by kind, to reveal leaks. */
export class Census {
  readonly #counts = new Map<string, { opened: number; closed: number }>();

  opened(kind: string): void {
    this.#count(kind).opened++;
  }

  closed(kind: string): void {
    this.#count(kind).closed++;
  }

  /** A copy of all counts. */
  counts(): Readonly<Record<string, CensusCount>> {
    return Object.fromEntries([...this.#counts].map(([kind, count]) => [kind, { ...count }]));
  }

  #count(kind: string): { opened: number; closed: number } {
    const count = this.#counts.get(kind) ?? { opened: 0, closed: 0 };
    this.#counts.set(kind, count);
    return count;
  }
}

/**
 * Owns closables. Closing runs once, last opened first; a failing closable never stops the rest, and failures are
 * reported together at the end. A closable that closes by itself is released and costs nothing afterwards.
 */
export class Lifetime implements Closable {
  readonly kind: string;
  readonly #census: Census;
  readonly #owned = new Set<Closable>();
  #closing: Promise<void> | undefined;
  /** True once `close` was called. */
  isClosed = false;
  readonly #hurried = Promise.withResolvers<void>();

  constructor(kind: string, census: Census) {
    this.kind = kind;
    this.#census = census;
    census.opened(kind);
  }

  get census(): Census {
    return this.#census;
  }

  /** Owned closables, oldest first. */
  owned(): readonly Closable[] {
    return [...this.#owned];
  }

  /** Throws CLOSED once `close` was called. */
  assertOpen(): void {
    if (!this.isClosed) return;
    throw new LonghaulError("CLOSED", `This ${this.kind} is closed; open a new one.`, {
      details: { kind: this.kind },
    });
  }

  own<T extends Closable>(closable: T): T {
    this.assertOpen();
    this.#owned.add(closable);
    return closable;
  }

  /** Removes a closable that has closed by itself. */
  release(closable: Closable): void {
    this.#owned.delete(closable);
  }

  close(): Promise<void> {
    this.isClosed = true;
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  /** Stops waiting for closables, so that a hanging one does not block the others. */
  hurry(): void {
    this.#hurried.resolve();
  }

  async #closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const closable of [...this.#owned].reverse()) {
      try {
        await Promise.race([closable.close(), this.#hurried.promise]);
      } catch (error) {
        failures.push(error);
      }
    }
    this.#owned.clear();
    this.#census.closed(this.kind);
    if (failures.length === 0) return;
    const what = failures
      .map((failure) => (failure instanceof Error ? failure.message : String(failure)))
      .join("; ");
    throw new LonghaulError(
      "CLOSE_FAILED",
      `${failures.length} part(s) of this ${this.kind} failed to close (all were tried): ${what}`,
      {
        cause: failures.length === 1 ? failures[0] : new AggregateError(failures),
      },
    );
  }
}
