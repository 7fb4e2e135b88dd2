import type { Fault } from "../api/api.ts";
import {
  type AnsweredRequest,
  afterAccepted,
  afterAnswer,
  afterCooling,
  afterMain,
  afterOverflow,
  atCompaction,
  type LoopLimits,
  type LoopState,
  loopFault,
  NO_LOOP,
} from "./breaker.ts";

/** Dependencies and size of `LoopStates`. */
export interface LoopStatesParts {
  readonly limits: () => LoopLimits;
  readonly now: () => number;
  /** Maximum number of watched threads and families; the least recently changed are dropped first. */
  readonly most: () => number;
}

interface Watched {
  readonly state: LoopState;
  readonly changedAt: number;
}

/** Loop states of all clients, by thread or family. */
export class LoopStates {
  readonly #parts: LoopStatesParts;
  /** Most recently changed last. */
  readonly #states = new Map<string, Watched>();

  constructor(parts: LoopStatesParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#states.size;
  }

  /** The fault for the next request of a thread or family; undefined if it may be sent. */
  fault(name: string): Fault | undefined {
    const watched = this.#states.get(name);
    return watched && loopFault(watched.state, this.#parts.now());
  }

  /** Records a complete reply to a request of a thread. */
  answered(thread: string, request: AnsweredRequest): void {
    this.#change(thread, (state, _, limits) => afterAnswer(state, request, limits));
  }

  /** Records the number of messages in a request of a family's main thread. */
  said(family: string, messages: number): void {
    // A family without compactions needs no state.
    if (this.#states.has(family)) this.#change(family, (state) => afterMain(state, messages));
  }

  /** Records a request for a compaction of a line with `messages` messages; returns a fault if it must not be sent. */
  compacts(family: string, messages: number): Fault | undefined {
    const known = this.fault(family);
    if (known) return known;
    this.#change(family, (state, now, limits) => atCompaction(state, messages, now, limits));
    return this.fault(family);
  }

  /** Records an overflow error that reached a family's client. */
  refused(family: string): void {
    this.#change(family, afterOverflow);
  }

  /** Records a successful turn of a family. */
  accepted(family: string): void {
    if (this.#states.has(family)) this.#change(family, afterAccepted);
  }

  #change(name: string, change: (state: LoopState, now: number, limits: LoopLimits) => LoopState): void {
    const now = this.#parts.now();
    const limits = this.#parts.limits();
    const state = afterCooling(this.#states.get(name)?.state ?? NO_LOOP, now);
    this.#states.delete(name);
    this.#states.set(name, { state: change(state, now, limits), changedAt: now });
    this.#forget(now, limits);
  }

  /** Drops expired states, and the oldest ones beyond the maximum. */
  #forget(now: number, { withinMs }: LoopLimits): void {
    const most = this.#parts.most();
    for (const [name, { state, changedAt }] of this.#states) {
      const isOver = now - changedAt >= withinMs && now >= (state.stopped?.until ?? 0);
      if (this.#states.size <= most && !isOver) return;
      this.#states.delete(name);
    }
  }
}
