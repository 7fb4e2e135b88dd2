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

/** What loops are looked for with. */
export interface LoopStatesParts {
  readonly limits: () => LoopLimits;
  readonly now: () => number;
  /** Threads and families that are kept in mind; the longest unused are forgotten. */
  readonly most?: number;
}

const MOST = 5_000;

/** Loops of many clients at once, by thread or family. */
export class LoopStates {
  readonly #parts: LoopStatesParts;
  readonly #states = new Map<string, LoopState>();

  constructor(parts: LoopStatesParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#states.size;
  }

  /** Why a thread or family may send nothing now; undefined if it may. */
  fault(name: string): Fault | undefined {
    const state = this.#states.get(name);
    return state && loopFault(state, this.#parts.now());
  }

  /** A thread's request was answered completely. */
  answered(thread: string, request: AnsweredRequest): void {
    this.#change(thread, (state, _, limits) => afterAnswer(state, request, limits));
  }

  /** A family's main thread sends so many messages. */
  said(family: string, messages: number): void {
    // Who never compacts need not be kept in mind.
    if (this.#states.has(family)) this.#change(family, (state) => afterMain(state, messages));
  }

  /** A family asks for a compaction of a line of so many messages; why it may not have it, if so. */
  compacts(family: string, messages: number): Fault | undefined {
    const known = this.fault(family);
    if (known) return known;
    this.#change(family, (state, now, limits) => atCompaction(state, messages, now, limits));
    return this.fault(family);
  }

  /** A family's client was told that a request did not fit. */
  refused(family: string): void {
    this.#change(family, afterOverflow);
  }

  /** A family's turn was answered. */
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
