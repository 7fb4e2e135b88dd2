import type { AgentEvent } from "../../../kernel/index.ts";

/** Emits an event; resolves when it is in the log, and rejects if the run is over. */
export type EventSink = (event: AgentEvent) => Promise<void>;

interface QueuedEvent {
  readonly event: AgentEvent;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Exposes the events of independent work as an agent's iterator: events are handed out one by one, and the work
 * continues when the next one is requested. Ending the iteration stops the work at once, even during a wait.
 */
export function relayEvents<Result>(
  work: (say: EventSink, signal: AbortSignal) => Promise<Result>,
  outer: AbortSignal,
): AsyncIterableIterator<AgentEvent, Result | undefined> {
  const stop = new AbortController();
  // Events emitted concurrently, for example by parallel tools, wait here.
  const waiting: QueuedEvent[] = [];
  let taken: QueuedEvent | undefined;
  let working: Promise<Result> | undefined;
  let isDone = false;
  let wake = () => {};

  const say: EventSink = (event) =>
    new Promise((resolve, reject) => {
      if (stop.signal.aborted) return reject(createEndedError());
      waiting.push({ event, resolve, reject });
      wake();
    });
  const end = (reason: unknown) => {
    stop.abort(reason);
    for (const left of [...(taken ? [taken] : []), ...waiting.splice(0)]) left.reject(createEndedError());
    wake();
  };
  const onOuterAbort = () => end(outer.reason);
  const begin = () => {
    if (outer.aborted) end(outer.reason);
    outer.addEventListener("abort", onOuterAbort, { once: true });
    return work(say, stop.signal).finally(() => {
      isDone = true;
      outer.removeEventListener("abort", onOuterAbort);
      wake();
    });
  };

  return {
    async next() {
      taken?.resolve();
      taken = undefined;
      working ??= begin();
      // Errors surface where `working` is awaited; this only prevents an unhandled rejection if nobody awaits it.
      working.catch(() => {});
      for (;;) {
        taken = waiting.shift();
        if (taken) return { done: false, value: taken.event };
        if (isDone) return { done: true, value: await working };
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async return() {
      end(createEndedError());
      await working?.catch(() => {});
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function createEndedError(): Error {
  return new Error("This call of the agent is over.");
}
