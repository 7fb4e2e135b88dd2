import { signal } from "@preact/signals";
import type { StreamEvent } from "../api/routes.ts";
import { follow } from "../api/stream.ts";
import { isSignInNeeded } from "../api/token.ts";

type Change = StreamEvent<"GET /events">;
type Listener = (change: Change) => void;

const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;

const listeners = new Set<Listener>();

/** True while the connection for live changes is open. */
export const isLive = signal(false);

/** Calls `listener` with each change of conversations, tasks and jobs; returns the end. One connection serves all. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Keeps the connection open until `signal` fires; after an interruption it continues at the last event. */
export async function followChanges(end: AbortSignal): Promise<void> {
  let lastEventId: string | undefined;
  for (let waitMs = MIN_WAIT_MS; !end.aborted; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    try {
      for await (const change of follow("GET /events", {}, { signal: end, lastEventId })) {
        isLive.value = true;
        waitMs = MIN_WAIT_MS;
        lastEventId = change.id ?? lastEventId;
        for (const listener of listeners) listener(change);
      }
    } catch {
      // The loop connects again.
    }
    isLive.value = false;
    await pause(waitMs, end);
    while (isSignInNeeded.peek() && !end.aborted) await pause(MIN_WAIT_MS, end);
  }
}

function pause(ms: number, end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      end.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    end.addEventListener("abort", done);
  });
}
