import type { WireFault } from "../../../wire/wire.ts";

/** Limits beyond which a client counts as looping. */
export interface LoopLimits {
  /** Complete replies to the same request. */
  readonly requests: number;
  /** Compactions without progress. */
  readonly compactions: number;
  /** Consecutive overflow errors that reach a client. */
  readonly overflows: number;
  /** The period over which events are counted. */
  readonly withinMs: number;
  /** Duration for which a looping client is stopped. */
  readonly coolMs: number;
}

/** The kind of a loop. */
type Loop = "request" | "compaction" | "overflow";

/** Loop state of one thread or one family of threads; bounded in size. */
export interface LoopState {
  /** Requests with complete replies and the times of the replies, latest last. */
  readonly answered: readonly { readonly key: string; readonly at: readonly number[] }[];
  /** Times of compactions since the last progress. */
  readonly compactions: readonly number[];
  /** The newest steps, each as a digest of its tool calls. */
  readonly steps: readonly string[];
  /** Times of overflow errors that reached the client since the last successful turn. */
  readonly overflows: readonly number[];
  /** Messages of the line at the last compaction, and the smallest number since then. */
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

/** The initial state. */
export const NO_LOOP: LoopState = {
  answered: [],
  compactions: [],
  steps: [],
  overflows: [],
  lineAtLast: 0,
  fewestSince: Number.POSITIVE_INFINITY,
};

const MAX_KEYS = 8;
/** Growth of a line since the last compaction that counts as progress, regardless of its earlier length. */
const MIN_PROGRESS = 12;

/** A request with a complete reply. */
export interface RepeatableRequest {
  /** Identifies the content of the request. */
  readonly key: string;
  /** When the request arrived, and when its reply was complete. */
  readonly requestedAt: number;
  readonly repliedAt: number;
}

/** Updates the state after a complete reply. */
export function applyReply(
  state: LoopState,
  { key, requestedAt: askedAt, repliedAt: now }: RepeatableRequest,
  limits: LoopLimits,
): LoopState {
  let known: readonly number[] = [];
  const others: { readonly key: string; readonly at: readonly number[] }[] = [];
  for (const one of state.answered) {
    if (one.key === key) known = one.at;
    else if (now - (one.at.at(-1) ?? 0) < limits.withinMs) others.push(one);
  }
  // A loop sends one request at a time; a client that asks again before the last reply wants several replies.
  // Replies of other gateways may be reported late.
  const [earlier, later] = [known.filter((one) => one <= now), known.filter((one) => one > now)];
  const isStep = askedAt >= (earlier.at(-1) ?? 0);
  const counted = isStep ? filterRecent(earlier, now, limits) : [];
  const at = [...counted, now, ...later].slice(-limits.requests - 1);
  const next = { ...state, answered: [...others, { key, at }].slice(-MAX_KEYS) };
  return at.length > limits.requests ? stopLoop(next, "request", at, now, limits) : next;
}

/** Updates the state after a request of the main thread with `messages` messages, the newest calls in which are `step`. */
export function applyMainRequest(state: LoopState, messages: number, step?: string): LoopState {
  const next = applyStep(state, step);
  return messages < next.fewestSince ? { ...next, fewestSince: messages } : next;
}

/** A call that was not made lately is progress, however often its client has to compact. */
function applyStep(state: LoopState, step: string | undefined): LoopState {
  if (step === undefined || state.steps.includes(step)) return state;
  return { ...state, compactions: [], steps: [...state.steps, step].slice(-MAX_KEYS) };
}

/** Updates the state when a client asks for a compaction of a line with `messages` messages, the newest calls in which are `step`. */
export function applyCompaction(
  before: LoopState,
  messages: number,
  now: number,
  limits: LoopLimits,
  step?: string,
): LoopState {
  const state = applyStep(before, step);
  const isProgress = messages > state.lineAtLast || messages - state.fewestSince >= MIN_PROGRESS;
  const known = isProgress ? [] : filterRecent(state.compactions, now, limits);
  const compactions = [...known, now].slice(-limits.compactions - 1);
  const next = {
    ...state,
    compactions,
    lineAtLast: messages,
    fewestSince: Number.POSITIVE_INFINITY,
  };
  return compactions.length > limits.compactions
    ? stopLoop(next, "compaction", compactions, now, limits)
    : next;
}

/** Updates the state after an overflow error that reached the client. */
export function applyOverflow(state: LoopState, now: number, limits: LoopLimits): LoopState {
  const overflows = [...filterRecent(state.overflows, now, limits), now].slice(-limits.overflows);
  const next = { ...state, overflows };
  return overflows.length >= limits.overflows ? stopLoop(next, "overflow", overflows, now, limits) : next;
}

/** Updates the state after a successful turn, which ends a series of overflow errors. */
export function applySuccess(state: LoopState): LoopState {
  return state.overflows.length > 0 ? { ...state, overflows: [] } : state;
}

/** The fault for the next request while the client is stopped; undefined otherwise. */
export function findLoopFault({ stopped }: LoopState, now: number): WireFault | undefined {
  if (!stopped || now >= stopped.until) return undefined;
  const { loop, count, since, until } = stopped;
  // A retryable status, or a message that clients read as a full window, would keep the loop going.
  return {
    status: 400,
    kind: "stopped",
    message:
      `longhaul has stopped this conversation because the client runs in a circle: ${LOOP_TEXTS[loop](count)} since ${formatTime(since)}. ` +
      `Stop the client, or say something else; requests pass again from ${formatTime(until)} on. ` +
      `If this is meant, raise breaker.${SETTINGS[loop]} in the gateway's configuration.`,
  };
}

const SETTINGS: Readonly<Record<Loop, "requests" | "compactions" | "overflows">> = {
  request: "requests",
  compaction: "compactions",
  overflow: "overflows",
};

const LOOP_TEXTS: Readonly<Record<Loop, (count: number) => string>> = {
  request: (count) => `the same request was answered ${count} times`,
  compaction: (count) => `it asked ${count} times for a summary and the conversation went no further`,
  overflow: (count) => `the provider refused ${count} requests in a row, however small they were made,`,
};

function stopLoop(
  state: LoopState,
  loop: Loop,
  at: readonly number[],
  now: number,
  { coolMs }: LoopLimits,
): LoopState {
  return { ...state, stopped: { loop, count: at.length, since: at[0] ?? now, until: now + coolMs } };
}

function filterRecent(times: readonly number[], now: number, { withinMs }: LoopLimits): readonly number[] {
  return times.filter((at) => now - at < withinMs);
}

function formatTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
