import "./memory.css";
import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { PageTabs } from "../../components/page-tabs.tsx";
import { useChanges } from "../../live/use-changes.ts";
import type { PageProps } from "../../shell/page-route.ts";
import { MemoriesView } from "./memories-view.tsx";
import { findMemoryAgent } from "./memory-links.ts";
import { memoryText as text } from "./memory-text.ts";
import { RecallView } from "./recall-view.tsx";
import { ReviewView } from "./review-view.tsx";
import { SourcesView } from "./sources-view.tsx";

const VIEWS = ["recall", "memories", "review", "sources"] as const;

/** Recall, memories, their review, and the index. */
export default function MemoryPage({ params, query }: PageProps) {
  const view = params.view ?? "recall";
  const agents = useResource((signal) => call("GET /memories/agents", {}, { signal }), []);
  useChanges(
    ({ event, data }) => event === "session" && findMemoryAgent(data.session) !== undefined,
    agents.reload,
  );
  const list = agents.value?.agents ?? [];
  const waiting = list.reduce((sum, { unreviewed }) => sum + unreviewed, 0);
  return (
    <>
      <h1>{text("title")}</h1>
      <PageTabs
        label={text("views")}
        tabs={VIEWS.map((name) => ({
          href: name === "recall" ? "/memory" : `/memory/${name}`,
          label: text(name),
          isCurrent: name === view,
          ...(name === "review" && { count: waiting }),
        }))}
      />
      {view === "recall" && <RecallView query={query} />}
      {view === "memories" && <MemoriesView query={query} agents={list} onChanged={agents.reload} />}
      {view === "review" && <ReviewView agents={agents} />}
      {view === "sources" && <SourcesView query={query} />}
      {!VIEWS.some((name) => name === view) && (
        <EmptyState title={text("noView")} hint={text("noViewHint")} />
      )}
    </>
  );
}
