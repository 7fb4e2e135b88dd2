import { useCallback, useEffect, useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { onChange } from "../../live/changes.ts";

export type Job = Reply<"GET /jobs/{job}">;

/** Live changes may be interrupted, so the job is asked for as well. */
const ASK_MS = 1_000;

interface RunningJob {
  readonly job: Job | undefined;
  readonly failure: ApiFailure | undefined;
  readonly start: (begin: () => Promise<Job>) => void;
  readonly stop: () => void;
}

/** Starts a job and follows it to its end. */
export function useJob(): RunningJob {
  const [job, setJob] = useState<Job>();
  const [failure, setFailure] = useState<ApiFailure>();
  const isRunning = job?.state === "running";
  const id = job?.id;
  useEffect(() => {
    if (!isRunning || id === undefined) return;
    const ask = () => call("GET /jobs/{job}", { params: { job: id } }).then(setJob, () => undefined);
    const timer = setInterval(ask, ASK_MS);
    const end = onChange((change) => {
      if (change.event === "job" && change.data.id === id) void ask();
    });
    return () => {
      clearInterval(timer);
      end();
    };
  }, [isRunning, id]);
  const start = useCallback((begin: () => Promise<Job>) => {
    setFailure(undefined);
    begin().then(setJob, (error) => setFailure(toFailure(error)));
  }, []);
  const stop = () => {
    if (id === undefined) return;
    call("DELETE /jobs/{job}", { params: { job: id } }).then(setJob, (error) => setFailure(toFailure(error)));
  };
  return { job, failure, start, stop };
}
