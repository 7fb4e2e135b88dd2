import { ApiFailure } from "../../api/api-failure.ts";
import { follow } from "../../api/stream.ts";
import type { Draft, Entry } from "../../session/session-types.ts";

interface FollowOptions {
  readonly session: string;
  /** Entries after this seq; those from now on if absent. */
  readonly after: number | undefined;
  readonly kinds: readonly Entry["kind"][];
  readonly onEntry: (entry: Entry) => void;
  readonly onDrafts: (drafts: readonly Draft[]) => void;
  readonly signal: AbortSignal;
}

const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;

/**
 * Follows a conversation until `signal` fires. Browsers allow few connections to one host, so there is none while the
 * page is hidden; afterwards it continues at the last entry.
 */
export async function followSession({
  session,
  after,
  kinds,
  onEntry,
  onDrafts,
  signal,
}: FollowOptions): Promise<void> {
  let last = after;
  for (let waitMs = MIN_WAIT_MS; !signal.aborted; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    await untilVisible(signal);
    const connection = endWhenHidden(signal);
    try {
      const query = { kinds: [...kinds], drafts: true, ...(last !== undefined && { after: last }) };
      const events = follow("GET /sessions/{session}/tail", { params: { session }, query }, connection);
      for await (const event of events) {
        waitMs = MIN_WAIT_MS;
        if (event.event === "drafts") onDrafts(event.data.drafts);
        else {
          last = event.data.seq;
          onEntry(event.data);
        }
      }
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 404) return;
    } finally {
      connection.end();
    }
    if (!signal.aborted && !document.hidden) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
    look();
  });
}

function endWhenHidden(signal: AbortSignal): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController();
  const look = () => {
    if (document.hidden || signal.aborted) controller.abort();
  };
  document.addEventListener("visibilitychange", look);
  signal.addEventListener("abort", look);
  look();
  return {
    signal: controller.signal,
    end: () => {
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", look);
    },
  };
}
