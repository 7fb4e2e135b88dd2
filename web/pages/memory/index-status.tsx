import { useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { ErrorState } from "../../components/error-state.tsx";
import { Figure } from "../../components/figure.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { formatCount, formatShare } from "../../format/number.ts";
import { formatAgo } from "../../format/time.ts";
import { useChanges } from "../../live/use-changes.ts";
import { memoryText as text } from "./memory-text.ts";

type Index = Reply<"GET /index">;
type Job = NonNullable<Index["job"]>;

/** The size of the index, the work that it lacks, and the run that does it. */
export function IndexStatus({ onDone }: { readonly onDone: () => void }) {
  const index = useResource((signal) => call("GET /index", {}, { signal }), []);
  const [failure, setFailure] = useState<ApiFailure>();
  useChanges(({ event }) => event === "session", index.reload);
  useChanges(
    ({ event, data }) => event === "job" && data.type !== "replay",
    () => {
      index.reload();
      onDone();
    },
  );
  const act = async (work: Promise<unknown>) => {
    try {
      await work;
      setFailure(undefined);
    } catch (error) {
      setFailure(toFailure(error));
    }
    index.reload();
  };
  return (
    <ResourceView resource={index}>
      {({ sources, chunks, entries, unindexed, unembedded, hasVectors, job }) => (
        <>
          <div class="figures">
            <Figure label={text("sourceCount")} value={formatCount(sources)} href="#sources" />
            <Figure label={text("chunks")} value={formatCount(chunks)} href="#sources" />
            <Figure
              label={text("searchable")}
              value={formatShare(entries > 0 ? 1 - unindexed / entries : undefined, 1)}
              note={text("ofEntries", { missing: formatCount(unindexed), entries: formatCount(entries) })}
              href="/memory/sources?kind=unindexed#sources"
            />
            <Figure
              label={text("withVectors")}
              value={formatShare(
                hasVectors && chunks > 0 ? 1 - Math.min(unembedded, chunks) / chunks : undefined,
                1,
              )}
              note={hasVectors ? text("ofChunks", { missing: formatCount(unembedded) }) : text("noVectors")}
              href="#sources"
            />
          </div>
          <div class="index-run">
            <IndexJob job={job} isComplete={unindexed === 0 && unembedded === 0} />
            {job?.state === "running" ? (
              <button
                type="button"
                onClick={() => act(call("DELETE /jobs/{job}", { params: { job: job.id } }))}
              >
                {text("stopIndex")}
              </button>
            ) : (
              <button type="button" onClick={() => act(call("POST /index", { body: {} }))}>
                {text("startIndex")}
              </button>
            )}
          </div>
          {failure && <ErrorState failure={failure} />}
        </>
      )}
    </ResourceView>
  );
}

function IndexJob({ job, isComplete }: { readonly job: Job | null; readonly isComplete: boolean }) {
  if (!job) return <p class="dim">{text(isComplete ? "indexComplete" : "indexByItself")}</p>;
  if (job.state === "failed" && job.error)
    return (
      <p class="bad">
        {job.error.message} <span class="dim">{job.error.remedy}</span>
      </p>
    );
  if (job.state !== "running")
    return (
      <p class="dim">
        {text(job.state === "done" ? "indexDone" : "indexStopped", { when: formatAgo(job.endedAt) })}
      </p>
    );
  const { indexed = 0, embedded = 0 } = job.index ?? {};
  return (
    <div class="index-progress">
      <label>
        {text("indexing")} <span class="number dim">{formatShare(indexed)}</span>
        <progress max={1} value={indexed} />
      </label>
      <label>
        {text("embedding")} <span class="number dim">{formatShare(embedded)}</span>
        <progress max={1} value={embedded} />
      </label>
    </div>
  );
}
