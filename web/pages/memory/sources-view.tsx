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
import { toPlainTitle } from "../../format/title.ts";
import { linkToSession } from "../../shell/links.ts";
import { setQuery } from "../../shell/router.ts";
import { ForgetSessionDialog } from "./forget-session-dialog.tsx";
import { IndexStatus } from "./index-status.tsx";
import { findMemoryAgent, linkToMemories } from "./memory-links.ts";
import { memoryText as text } from "./memory-text.ts";
import { UnindexedView } from "./unindexed-view.tsx";

type Source = Reply<"GET /index/sources">["sources"][number];

const KINDS = ["session", "file"] as const;
const PAGE = 100;
const MAX_PAGE = 999;

/** The state of the index, everything in it, and everything that it lacks. */
export function SourcesView({ query }: { readonly query: URLSearchParams }) {
  const shown = query.get("kind");
  const kind = KINDS.find((one) => one === shown);
  const after = Number(query.get("after") ?? 0) || 0;
  const [round, setRound] = useState(0);
  return (
    <>
      <IndexStatus onDone={() => setRound((last) => last + 1)} />
      <section class="section" id="sources">
        <div class="section-head">
          <h2>{text(shown === "unindexed" ? "unindexed" : "sourceList")}</h2>
          <Segments
            label={text("kind")}
            value={kind ?? (shown === "unindexed" ? shown : "all")}
            options={[
              { value: "all", label: text("allKinds") },
              { value: "session", label: text("conversations") },
              { value: "file", label: text("files") },
              { value: "unindexed", label: text("unindexedEntries") },
            ]}
            onChange={(value) => setQuery({ kind: value === "all" ? undefined : value, after: undefined })}
          />
        </div>
        {shown === "unindexed" ? (
          <UnindexedView after={after} />
        ) : (
          <SourceList kind={kind} after={after} round={round} />
        )}
      </section>
    </>
  );
}

interface SourceListProps {
  readonly kind: Source["kind"] | undefined;
  readonly after: number;
  /** Changes when the index has changed. */
  readonly round: number;
}

function SourceList({ kind, after, round }: SourceListProps) {
  const [limit, setLimit] = useState(PAGE);
  const [forgetting, setForgetting] = useState<string>();
  const sources = useResource(
    (signal) => call("GET /index/sources", { query: { limit, after, ...(kind && { kind }) } }, { signal }),
    [kind, limit, after, round],
  );
  return (
    <>
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

function SourceName({ source: { kind, name, root, title } }: { readonly source: Source }) {
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
      <a href={agent === undefined ? linkToSession(name) : linkToMemories(agent)} title={name}>
        {title ? toPlainTitle(title) : name}
      </a>
    </span>
  );
}
