import { useEffect, useRef } from "preact/hooks";
import type { StreamEvent } from "../api/routes.ts";
import { onChange } from "./changes.ts";

type Change = StreamEvent<"GET /events">;

const MIN_PAUSE_MS = 500;

/** Calls `run` soon after a change that `matters` accepts, at most twice a second, and after a gap in the events. */
export function useChanges(matters: (change: Change) => boolean, run: () => void): void {
  const latest = useRef({ matters, run });
  latest.current = { matters, run };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = onChange((change) => {
      if (timer !== undefined || !(change.event === "reset" || latest.current.matters(change))) return;
      timer = setTimeout(() => {
        timer = undefined;
        latest.current.run();
      }, MIN_PAUSE_MS);
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, []);
}
