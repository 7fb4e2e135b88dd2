import "./search.css";
import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { formatCount } from "../../format/number.ts";
import type { PageProps } from "../../shell/page-route.ts";
import { setQuery } from "../../shell/router.ts";
import { type Hit, HitView } from "./hit-view.tsx";
import { searchText as text } from "./search-text.ts";

const PAGE = 20;
const MAX_HITS = 100;

/** One search over everything ever said. */
export default function SearchPage({ query }: PageProps) {
  const q = query.get("q")?.trim() ?? "";
  const k = Math.min(MAX_HITS, Number(query.get("k")) || PAGE);
  const agent = query.get("agent") ?? undefined;
  const project = query.get("project") ?? undefined;
  const found = useResource(
    (signal) =>
      q ? call("GET /recall", { query: { q, k, agent, project } }, { signal }) : Promise.resolve(undefined),
    [q, k, agent, project],
  );
  if (!q) return <EmptyState title={text("ask")} hint={text("askHint")} />;
  return (
    <>
      <h1>{text("title", { question: q })}</h1>
      <p class="filters">
        {[
          ["agent", agent],
          ["project", project],
        ].map(
          ([name, value]) =>
            value && (
              <button
                key={name}
                type="button"
                class="pill"
                onClick={() => setQuery({ [name as string]: undefined })}
              >
                {value} ×
              </button>
            ),
        )}
      </p>
      <ResourceView resource={found}>
        {(reply) =>
          reply &&
          (reply.hits.length === 0 ? (
            <EmptyState title={text("nothing")} hint={text("nothingHint")} />
          ) : (
            <>
              {!reply.isSure && <p class="note">{text("unsure")}</p>}
              {reply.unindexed ? (
                <p class="note">{text("unindexed", { count: formatCount(reply.unindexed) })}</p>
              ) : null}
              <ol class="hits">
                {groupHits(reply.hits).map(([source, hits]) => (
                  <HitView key={source} hits={hits} />
                ))}
              </ol>
              {reply.hits.length >= k && k < MAX_HITS && (
                <p class="actions">
                  <button type="button" onClick={() => setQuery({ k: String(k + PAGE) })}>
                    {text("more")}
                  </button>
                </p>
              )}
            </>
          ))
        }
      </ResourceView>
    </>
  );
}

/** The hits by conversation or file, in the order of the best hit of each. */
function groupHits(hits: readonly Hit[]): readonly (readonly [string, readonly [Hit, ...Hit[]]])[] {
  const groups = new Map<string, [Hit, ...Hit[]]>();
  for (const hit of hits) {
    const source = hit.kind === "session" ? hit.session : hit.path;
    const known = groups.get(source);
    if (known) known.push(hit);
    else groups.set(source, [hit]);
  }
  return [...groups];
}
