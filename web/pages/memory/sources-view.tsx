import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { Segments } from "../../components/segments.tsx";
import { Table } from "../../components/table.tsx";
import { formatBytes, formatCount } from "../../format/number.ts";
import { formatAgo } from "../../format/time.ts";
import { linkToSession } from "../../shell/links.ts";
import { setQuery } from "../../shell/router.ts";
import { ForgetSessionDialog } from "./forget-session-dialog.tsx";
import { IndexStatus } from "./index-status.tsx";
import { findMemoryAgent, linkToMemories } from "./memory-links.ts";
import { memoryText as text } from "./memory-text.ts";

type Source = Reply<"GET /index/sources">["sources"][number];

const KINDS = ["session", "file"] as const;
const PAGE = 100;
const MAX_PAGE = 999;

/** The state of the index and everything in it. */
export function SourcesView({ query }: { readonly query: URLSearchParams }) {
  const kind = KINDS.find((one) => one === query.get("kind"));
  const [limit, setLimit] = useState(PAGE);
  const [forgetting, setForgetting] = useState<string>();
  const after = Number(query.get("after") ?? 0) || 0;
  const sources = useResource(
    (signal) => call("GET /index/sources", { query: { limit, after, ...(kind && { kind }) } }, { signal }),
    [kind, limit, after],
  );
  return (
    <>
      <IndexStatus onDone={sources.reload} />
      <section class="section" id="sources">
        <div class="section-head">
          <h2>{text("sourceList")}</h2>
          <Segments
            label={text("kind")}
            value={kind ?? "all"}
            options={[
              { value: "all", label: text("allKinds") },
              { value: "session", label: text("conversations") },
              { value: "file", label: text("files") },
            ]}
            onChange={(value) => setQuery({ kind: value === "all" ? undefined : value, after: undefined })}
          />
        </div>
        <ResourceView resource={sources}>
          {({ sources: rows, after: next }) =>
            rows.length === 0 ? (
              <EmptyState title={text("noSources")} hint={text("noSourcesHint")} />
            ) : (
              <>
                <SourceTable rows={rows} onForget={setForgetting} />
                {next !== null && (
                  <p class="actions">
                    <button
                      type="button"
                      onClick={() =>
                        limit < MAX_PAGE ? setLimit(MAX_PAGE) : setQuery({ after: String(next) })
                      }
                    >
                      {text(limit < MAX_PAGE ? "more" : "nextPage")}
                    </button>
                  </p>
                )}
              </>
            )
          }
        </ResourceView>
      </section>
      {forgetting !== undefined && (
        <ForgetSessionDialog
          session={forgetting}
          onForgotten={sources.reload}
          onClose={() => setForgetting(undefined)}
        />
      )}
    </>
  );
}

function SourceTable({
  rows,
  onForget,
}: {
  readonly rows: readonly Source[];
  readonly onForget: (session: string) => void;
}) {
  return (
    <Table
      caption={text("sourceList")}
      rows={rows}
      keyOf={({ number }) => String(number)}
      columns={[
        { name: text("name"), cell: (row) => <SourceName source={row} /> },
        { name: text("chunks"), isNumber: true, cell: ({ chunks }) => formatCount(chunks) },
        {
          name: text("indexedTo"),
          isNumber: true,
          isMinor: true,
          cell: ({ kind, cursor }) => (kind === "session" ? `#${cursor}` : "–"),
        },
        {
          name: text("size"),
          isNumber: true,
          isMinor: true,
          cell: ({ kind, sizeBytes }) => (kind === "file" ? formatBytes(sizeBytes) : "–"),
        },
        {
          name: text("modified"),
          isMinor: true,
          cell: ({ kind, modifiedMs }) => (kind === "file" ? formatAgo(modifiedMs) : "–"),
        },
        {
          name: text("actions"),
          cell: ({ kind, name }) =>
            kind === "session" &&
            findMemoryAgent(name) === undefined && (
              <button
                type="button"
                class="quiet"
                aria-label={text("forgetNamed", { name })}
                onClick={() => onForget(name)}
              >
                {text("forget")}
              </button>
            ),
        },
      ]}
    />
  );
}

function SourceName({ source: { kind, name, root } }: { readonly source: Source }) {
  if (kind === "file")
    return (
      <span class="source-name">
        <code title={name}>{root && name.startsWith(root) ? name.slice(root.length + 1) || name : name}</code>
        {root && <span class="dim">{root}</span>}
      </span>
    );
  const agent = findMemoryAgent(name);
  return (
    <span class="source-name">
      <a href={agent === undefined ? linkToSession(name) : linkToMemories(agent)}>{name}</a>
    </span>
  );
}
