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
  /** Maximum number of threads and families, default 5,000; the least recently used are dropped. */
  readonly most?: number;
}

const MOST = 5_000;

/** Loop states of all clients, by thread or family. */
export class LoopStates {
  readonly #parts: LoopStatesParts;
  readonly #states = new Map<string, LoopState>();

  constructor(parts: LoopStatesParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#states.size;
  }

  /** The fault for the next request of a thread or family; undefined if it may be sent. */
  fault(name: string): Fault | undefined {
    const state = this.#states.get(name);
    return state && loopFault(state, this.#parts.now());
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
    const state = afterCooling(this.#states.get(name) ?? NO_LOOP, now);
    this.#states.delete(name);
    this.#states.set(name, change(state, now, this.#parts.limits()));
    const { most = MOST } = this.#parts;
    for (const oldest of this.#states.keys()) {
      if (this.#states.size <= most) break;
      this.#states.delete(oldest);
    }
  }
}
