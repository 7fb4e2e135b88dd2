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
  /** Threads and families that are watched; those unused longest are forgotten first. */
  readonly most: () => number;
}

interface Watched {
  readonly state: LoopState;
  readonly changedAt: number;
}

/** Loops of many clients at once, by thread or family. */
export class LoopStates {
  readonly #parts: LoopStatesParts;
  /** Changed last comes last. */
  readonly #states = new Map<string, Watched>();

  constructor(parts: LoopStatesParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#states.size;
  }

  /** Why a thread or family may send nothing now; undefined if it may. */
  fault(name: string): Fault | undefined {
    const watched = this.#states.get(name);
    return watched && loopFault(watched.state, this.#parts.now());
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
    const limits = this.#parts.limits();
    const state = afterCooling(this.#states.get(name)?.state ?? NO_LOOP, now);
    this.#states.delete(name);
    this.#states.set(name, { state: change(state, now, limits), changedAt: now });
    this.#forget(now, limits);
  }

  /** A state in which nothing counts any more is as good as none. */
  #forget(now: number, { withinMs }: LoopLimits): void {
    const most = this.#parts.most();
    for (const [name, { state, changedAt }] of this.#states) {
      const isOver = now - changedAt >= withinMs && now >= (state.stopped?.until ?? 0);
      if (this.#states.size <= most && !isOver) return;
      this.#states.delete(name);
    }
  }
}
