import { useEffect, useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { ErrorState } from "../../components/error-state.tsx";
import { formatCount, formatShare } from "../../format/number.ts";
import { onChange } from "../../live/changes.ts";
import { overviewText as text } from "./overview-text.ts";

type Job = Reply<"GET /jobs">["jobs"][number];

/** One button that imports the conversations of agents on this computer. Only the local person has it. */
export function ImportHistories({ onImported }: { readonly onImported: () => void }) {
  const places = useResource((signal) => call("GET /imports/places", {}, { signal }), []);
  const [job, setJob] = useState<Job>();
  useEffect(
    () =>
      onChange((change) => {
        if (change.event !== "job" || change.data.type !== "import") return;
        setJob(change.data);
        if (change.data.state === "done") onImported();
      }),
    [],
  );
  const [failure, setFailure] = useState<ApiFailure>();
  if (places.failure?.code === "FORBIDDEN") return <NotAllowed />;
  const agents = [...new Set(places.value?.places.map(({ agent }) => agent))];
  const isBusy = job?.state === "running";
  const run = () =>
    call("POST /imports", { body: {} }).then(
      (started) => {
        setFailure(undefined);
        setJob(started);
      },
      (error) => setFailure(toFailure(error)),
    );
  return (
    <section class="card">
      <h2>{text("importTitle")}</h2>
      {places.failure && <ErrorState failure={places.failure} retry={places.reload} />}
      {failure && <ErrorState failure={failure} />}
      <p class="dim">
        {agents.length > 0 ? text("importFound", { agents: agents.join(", ") }) : text("importNone")}
      </p>
      <p class="actions">
        <button type="button" class="primary" disabled={isBusy || agents.length === 0} onClick={run}>
          {text("importAction")}
        </button>
        <span role="status" class="dim number">
          {job && describeJob(job)}
        </span>
      </p>
    </section>
  );
}

function NotAllowed() {
  return (
    <section class="card">
      <h2>{text("importTitle")}</h2>
      <p class="dim">{text("importLocalOnly")}</p>
    </section>
  );
}

function describeJob({ state, import: own, error }: Job): string {
  if (state === "failed") return `${error?.message ?? ""} ${error?.remedy ?? ""}`;
  if (state === "done") return text("importDone");
  if (state === "stopped") return text("importStopped");
  if (own?.stage === "indexing")
    return text("importIndexing", {
      share: formatShare(0.6 * (own.indexed ?? 0) + 0.4 * (own.embedded ?? 0)),
    });
  const { index, count, messages } = own?.progress ?? {};
  if (index === undefined || count === undefined) return text("importSearching");
  return text("importProgress", {
    index: formatCount(index + 1),
    count: formatCount(count),
    messages: formatCount(messages),
  });
}
