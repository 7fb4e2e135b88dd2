import type { Json } from "../../../kernel/index.ts";
import type { WireFault } from "../../../wire/wire.ts";
import {
  applyCompaction,
  applyMainRequest,
  applyOverflow,
  applyReply,
  applySuccess,
  findLoopFault,
  type LoopLimits,
  type LoopState,
  NO_LOOP,
  type RepeatableRequest,
} from "./breaker.ts";
import type { SharedStates } from "./shared-states.ts";

const SHARED_KIND = "loop";

/** Dependencies and size of `LoopStates`. */
interface LoopStatesDeps {
  /** Carries the states to other gateways on the same database. */
  readonly shared?: SharedStates | undefined;
  readonly limits: () => LoopLimits;
  readonly now: () => number;
  /** Maximum number of watched threads and families; the least recently changed are dropped first. */
  readonly maxStates: () => number;
}

interface Watched {
  readonly state: LoopState;
  readonly changedAt: number;
}

/** Loop states of all clients, by thread or family. */
export class LoopStates {
  readonly #deps: LoopStatesDeps;
  /** Most recently changed last. */
  readonly #states = new Map<string, Watched>();

  constructor(deps: LoopStatesDeps) {
    this.#deps = deps;
    deps.shared?.listen(SHARED_KIND, (name, value) => this.#set(name, parseLoopState(value)));
  }

  get size(): number {
    return this.#states.size;
  }

  /** The fault for the next request of a thread or family; undefined if it may be sent. */
  findFault(name: string): WireFault | undefined {
    const state = this.#states.get(name)?.state;
    return state?.stopped && findLoopFault(state, this.#deps.now());
  }

  /** Records a complete reply to a request of a thread. */
  recordReply(thread: string, request: RepeatableRequest): void {
    this.#change(thread, (state, _, limits) => applyReply(state, request, limits));
  }

  /** Records the number of messages in a request of a family's main thread, and its newest calls. */
  recordRequest(family: string, messages: number, readStep: () => string | undefined): void {
    // A family without compactions needs no state.
    const state = this.#states.get(family)?.state;
    const step = state && state.compactions.length > 0 ? readStep() : undefined;
    const isStep = step !== undefined && !state?.steps.includes(step);
    if (state && (state.stopped || messages < state.fewestSince || isStep))
      this.#change(family, (known) => applyMainRequest(known, messages, step));
  }

  /**
   * Records a request for a compaction of a line with `messages` messages, the newest calls in which are `step`; returns a
   * fault if it must not be sent.
   */
  recordCompaction(family: string, messages: number, step: string | undefined): WireFault | undefined {
    const known = this.findFault(family);
    if (known) return known;
    this.#change(family, (state, now, limits) => applyCompaction(state, messages, now, limits, step));
    return this.findFault(family);
  }

  /** Records an overflow error that reached a family's client. */
  recordOverflow(family: string): void {
    this.#change(family, applyOverflow);
  }

  /** Records a successful turn of a family. */
  recordSuccess(family: string): void {
    const state = this.#states.get(family)?.state;
    if (state && (state.stopped || state.overflows.length > 0)) this.#change(family, applySuccess);
  }

  #change(name: string, change: (state: LoopState, now: number, limits: LoopLimits) => LoopState): void {
    const now = this.#deps.now();
    const limits = this.#deps.limits();
    // A stop that is over leaves nothing behind.
    const apply = (state: LoopState) => {
      const isOver = state.stopped !== undefined && now >= state.stopped.until;
      return change(isOver ? NO_LOOP : state, now, limits);
    };
    this.#set(name, apply(this.#states.get(name)?.state ?? NO_LOOP));
    this.#deps.shared?.change(SHARED_KIND, name, (stored) => encodeLoopState(apply(parseLoopState(stored))));
  }

  #set(name: string, state: LoopState): void {
    const now = this.#deps.now();
    this.#states.delete(name);
    this.#states.set(name, { state, changedAt: now });
    const { withinMs } = this.#deps.limits();
    const most = this.#deps.maxStates();
    // Expired states go, and the oldest ones beyond the maximum.
    for (const [oldest, { state: known, changedAt }] of this.#states) {
      const isOver = now - changedAt >= withinMs && now >= (known.stopped?.until ?? 0);
      if (this.#states.size <= most && !isOver) return;
      this.#states.delete(oldest);
    }
  }
}

/** A state as JSON, which has no infinite numbers. */
function encodeLoopState(state: LoopState): Json {
  return {
    ...state,
    fewestSince: Number.isFinite(state.fewestSince) ? state.fewestSince : null,
  } as unknown as Json;
}

/** A stored state; the initial one if it is missing or of another form. */
function parseLoopState(stored: Json | undefined): LoopState {
  const state = stored as Partial<LoopState> | null | undefined;
  const { answered, compactions, overflows, steps = [] } = state ?? {};
  if (![answered, compactions, overflows, steps].every(Array.isArray)) return NO_LOOP;
  return { ...NO_LOOP, ...state, fewestSince: state?.fewestSince ?? NO_LOOP.fewestSince };
}

/** The wall-clock time of a `performance.now()` value, by default of now; finer than Date.now() and monotonic. */
export function toWallClock(momentMs = performance.now()): number {
  return performance.timeOrigin + momentMs;
}
