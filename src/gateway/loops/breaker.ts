import type { Fault } from "../api/api.ts";

/** When a client is taken to run in a circle. */
export interface LoopLimits {
  /** Complete answers to one and the same request. */
  readonly requests: number;
  /** Compactions without progress. */
  readonly compactions: number;
  /** Overflow errors in a row that reach a client. */
  readonly overflows: number;
  /** Counted within so much time. */
  readonly withinMs: number;
  /** How long the client is stopped then. */
  readonly coolMs: number;
}

/** What loops. */
export type Loop = "request" | "compaction" | "overflow";

/** What is known of one thread, or of one family of threads, as far as loops go; bounded. */
export interface LoopState {
  /** Requests that were answered completely, the latest last, with when. */
  readonly answered: readonly { readonly key: string; readonly at: readonly number[] }[];
  /** Compactions since there was progress. */
  readonly compactions: readonly number[];
  /** Overflow errors that reached the client since a turn was answered. */
  readonly overflows: readonly number[];
  /** Messages of the line at the last compaction, and the fewest since. */
  readonly lineAtLast: number;
  readonly fewestSince: number;
  /** Set while the client is stopped. */
  readonly stopped?: {
    readonly loop: Loop;
    readonly count: number;
    readonly since: number;
    readonly until: number;
  };
}

/** Nothing seen yet. */
export const NO_LOOP: LoopState = {
  answered: [],
  compactions: [],
  overflows: [],
  lineAtLast: 0,
  fewestSince: Number.POSITIVE_INFINITY,
};

const MOST_KEYS = 8;
/** A line that has grown by so much since the last compaction has made progress, however long it was before. */
const MUCH = 12;

/** A request that was answered completely. */
export interface AnsweredRequest {
  /** Names all that it says. */
  readonly key: string;
  /** When it came, and when its answer was whole. */
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** After a request was answered completely. */
export function afterAnswer(
  state: LoopState,
  { key, askedAt, answeredAt: now }: AnsweredRequest,
  limits: LoopLimits,
): LoopState {
  const known = state.answered.find((one) => one.key === key)?.at ?? [];
  // A circle has one request at a time: who asks before the last answer was there wants many answers.
  const isStep = askedAt >= (known.at(-1) ?? 0);
  const at = [...(isStep ? within(known, now, limits) : []), now].slice(-limits.requests - 1);
  const others = state.answered.filter((one) => one.key !== key && isRecent(one.at, now, limits));
  const next = { ...state, answered: [...others, { key, at }].slice(-MOST_KEYS) };
  return at.length > limits.requests ? stop(next, "request", at, now, limits) : next;
}

/** After a request of the main thread with so many messages. */
export function afterMain(state: LoopState, messages: number): LoopState {
  return messages < state.fewestSince ? { ...state, fewestSince: messages } : state;
}

/** When a compaction of a line of so many messages is asked for. */
export function atCompaction(state: LoopState, messages: number, now: number, limits: LoopLimits): LoopState {
  const isProgress = messages > state.lineAtLast || messages - state.fewestSince >= MUCH;
  const known = isProgress ? [] : within(state.compactions, now, limits);
  const compactions = [...known, now].slice(-limits.compactions - 1);
  const next = {
    ...state,
    compactions,
    lineAtLast: messages,
    fewestSince: Number.POSITIVE_INFINITY,
  };
  return compactions.length > limits.compactions ? stop(next, "compaction", compactions, now, limits) : next;
}

/** After an overflow error that reached the client. */
export function afterOverflow(state: LoopState, now: number, limits: LoopLimits): LoopState {
  const overflows = [...within(state.overflows, now, limits), now].slice(-limits.overflows);
  const next = { ...state, overflows };
  return overflows.length >= limits.overflows ? stop(next, "overflow", overflows, now, limits) : next;
}

/** After a turn that was answered: whatever was too long before, this was not. */
export function afterAccepted(state: LoopState): LoopState {
  return state.overflows.length > 0 ? { ...state, overflows: [] } : state;
}

/** Why the next request is not sent; undefined if it may be. */
export function loopFault({ stopped }: LoopState, now: number): Fault | undefined {
  if (!stopped || now >= stopped.until) return undefined;
  const { loop, count, since, until } = stopped;
  // A status that clients try again for, or words that they take for a full window, would feed the loop.
  return {
    status: 400,
    kind: "stopped",
    message:
      `longhaul has stopped this conversation because the client runs in a circle: ${WHAT[loop](count)} since ${timeOf(since)}. ` +
      `Stop the client, or say something else; requests pass again from ${timeOf(until)} on. ` +
      `If this is meant, raise breaker.${SETTINGS[loop]} in the gateway's configuration.`,
  };
}

/** The state once a stop is over: counting begins anew. */
export function afterCooling(state: LoopState, now: number): LoopState {
  return state.stopped && now >= state.stopped.until ? NO_LOOP : state;
}

const SETTINGS: Readonly<Record<Loop, "requests" | "compactions" | "overflows">> = {
  request: "requests",
  compaction: "compactions",
  overflow: "overflows",
};

const WHAT: Readonly<Record<Loop, (count: number) => string>> = {
  request: (count) => `the same request was answered ${count} times`,
  compaction: (count) => `it asked ${count} times for a summary and the conversation went no further`,
  overflow: (count) => `the provider refused ${count} requests in a row, however small they were made,`,
};

function stop(
  state: LoopState,
  loop: Loop,
  at: readonly number[],
  now: number,
  { coolMs }: LoopLimits,
): LoopState {
  return { ...state, stopped: { loop, count: at.length, since: at[0] ?? now, until: now + coolMs } };
}

function within(times: readonly number[], now: number, { withinMs }: LoopLimits): readonly number[] {
  return times.filter((at) => now - at < withinMs);
}

function isRecent(times: readonly number[], now: number, limits: LoopLimits): boolean {
  return within(times, now, limits).length > 0;
}

function timeOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
