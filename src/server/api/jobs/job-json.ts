import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { ApiError } from "../core/api-error.ts";
import type { HistoryImport } from "./history-import.ts";
import type { IndexRun } from "./index-run.ts";
import type { ReplayJob } from "./replay-jobs.ts";

/** A replay as the API shows it. */
export function toReplayJob({ id, state, startedAt, endedAt, result, error }: ReplayJob) {
  return {
    id,
    type: "replay" as const,
    state,
    startedAt,
    endedAt,
    ...dropUndefined({ replay: result, error }),
  };
}

/** The current or last import as the API shows it; undefined before the first. */
export function toImportJob({ state: run, runs }: HistoryImport) {
  const { state, startedAt = 0, endedAt, error, ...rest } = run;
  if (state === "idle") return undefined;
  return {
    id: `import-${runs}`,
    type: "import" as const,
    state: state === "indexing" ? ("running" as const) : state,
    startedAt,
    endedAt,
    import: { stage: state, ...rest },
    ...(error !== undefined && {
      error: {
        code: "IMPORT_FAILED",
        message: error,
        remedy: "Repair the cause and start the import again.",
      },
    }),
  };
}

/** The current or last run of the index as the API shows it; undefined before the first. */
export function toIndexJob({ state: run, runs }: IndexRun) {
  const { state, startedAt, endedAt, error, indexed, embedded } = run;
  if (state === "idle") return undefined;
  return {
    id: `index-${runs}`,
    type: "index" as const,
    state,
    startedAt,
    endedAt,
    index: { indexed, embedded },
    ...(error !== undefined && {
      error: { code: "INDEX_FAILED", message: error, remedy: "Repair the cause and start again." },
    }),
  };
}

/** The job, or JOB_NOT_FOUND. */
export function requireJob<Job>(job: Job | undefined, id: string): Job {
  if (job !== undefined) return job;
  throw new ApiError("JOB_NOT_FOUND", `There is no job ${JSON.stringify(id)}.`, { details: { job: id } });
}
