import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import { follow } from "../../api/stream.ts";
import type { Entry } from "../../format/entry-text.ts";

/** Entries that stay in the page; older ones are in the conversation. */
const MAX_ENTRIES = 1_000;
const FIRST_ENTRIES = 200;
const RETRY_MS = 2_000;

interface Output {
  readonly entries: readonly Entry[];
  /** True if entries before the first one are left out. */
  readonly isCut: boolean;
  readonly isFollowing: boolean;
  readonly failure: ApiFailure | undefined;
}

/** Follows the output of a task from its last entries to its end; after an interruption it continues where it was. */
export function useOutput(id: string, session: string): Output {
  const entries = useRef<Entry[]>([]);
  const [, update] = useReducer<number, void>((round) => round + 1, 0);
  const [isFollowing, setFollowing] = useState(true);
  const [failure, setFailure] = useState<ApiFailure>();
  const [isCut, setCut] = useState(false);
  useEffect(() => {
    const end = new AbortController();
    const { signal } = end;
    let frame = 0;
    const add = (entry: Entry) => {
      entries.current.push(entry);
      if (entries.current.length > MAX_ENTRIES) {
        entries.current = entries.current.slice(-MAX_ENTRIES / 2);
        setCut(true);
      }
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        update();
      });
    };
    const run = async () => {
      let since = await findStart(session, signal);
      setCut(since > 0);
      while (!signal.aborted) {
        try {
          for await (const event of follow(
            "GET /tasks/{task}/tail",
            { params: { task: id }, query: { since } },
            { signal },
          )) {
            if (event.event === "end") return;
            setFailure(undefined);
            since = event.data.seq;
            add(event.data);
          }
        } catch (error) {
          if (signal.aborted) return;
          const problem = toFailure(error);
          setFailure(problem);
          if (problem.status >= 400 && problem.status < 500) return;
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    };
    void run()
      .catch((error) => signal.aborted || setFailure(toFailure(error)))
      .finally(() => signal.aborted || setFollowing(false));
    return () => {
      end.abort();
      cancelAnimationFrame(frame);
    };
  }, [id, session]);
  return { entries: entries.current, isCut, isFollowing, failure };
}

/** The place before the last entries of the session, so that long output does not have to be read from its start. */
async function findStart(session: string, signal: AbortSignal): Promise<number> {
  try {
    const page = await call(
      "GET /sessions/{session}/entries",
      { params: { session }, query: { limit: FIRST_ENTRIES, line: "log" } },
      { signal },
    );
    return Math.max(0, (page.entries[0]?.seq ?? 1) - 1);
  } catch (error) {
    if (signal.aborted) throw error;
    return 0;
  }
}
