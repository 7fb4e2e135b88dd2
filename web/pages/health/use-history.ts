import { useEffect, useRef } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { type Resource, useResource } from "../../api/use-resource.ts";
import { useChanges } from "../../live/use-changes.ts";

export type History = Reply<"GET /health/history">;
export type Point = History["points"][number];
export type MonitorNote = History["notes"][number];

const MIN_INTERVAL_MS = 2_000;

/** The measurements of the last `rangeMs`, or all; newer ones are added as the monitor takes them. */
export function useHistory(rangeMs: number | undefined): Resource<History> {
  const kept = useRef<{ rangeMs: number | undefined; history: History }>(undefined);
  const history = useResource(
    async (signal) => {
      const from = rangeMs === undefined ? 0 : Date.now() - rangeMs;
      const before = kept.current?.rangeMs === rangeMs ? kept.current?.history : undefined;
      const lastAt = Math.max(before?.points.at(-1)?.at ?? 0, before?.notes.at(-1)?.at ?? 0);
      const since = before ? Math.max(from, lastAt + 1) : from;
      const fresh = await call("GET /health/history", { query: { since } }, { signal });
      const joined = {
        ...fresh,
        points: [...(before?.points ?? []), ...fresh.points].filter(({ at }) => at >= from),
        notes: [...(before?.notes ?? []), ...fresh.notes].filter(({ at }) => at >= from),
      };
      kept.current = { rangeMs, history: joined };
      return joined;
    },
    [rangeMs],
  );
  useChanges(({ event }) => event === "memory", history.reload);
  const intervalMs = Math.max(MIN_INTERVAL_MS, history.value?.intervalMs ?? 30_000);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) history.reload();
    }, intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs, history.reload]);
  return history;
}
