import type { Reply } from "../api/routes.ts";
import { formatMoney, formatShort } from "../format/number.ts";
import { formatAgo, formatTime } from "../format/time.ts";
import { toPlainTitle } from "../format/title.ts";
import { shellText } from "../i18n/shell-text.ts";
import { linkToSession, linkToWindow } from "../shell/links.ts";
import { buildPath } from "../shell/match-path.ts";
import { CopyButton } from "./copy-button.tsx";
import { PartsBar } from "./parts-bar.tsx";
import { type Column, Table } from "./table.tsx";

type Session = Reply<"GET /sessions">["sessions"][number];

/** A table of conversations: title, origin, window, cost, last activity. */
export function SessionTable({
  caption,
  sessions,
}: {
  readonly caption: string;
  readonly sessions: readonly Session[];
}) {
  return <Table caption={caption} rows={sessions} columns={buildColumns()} keyOf={({ id }) => id} />;
}

function buildColumns(): readonly Column<Session>[] {
  return [
    {
      name: shellText("conversation"),
      cell: (session) => (
        <div class="session-cell">
          <a href={linkToSession(session.id)}>
            {session.title
              ? toPlainTitle(session.title)
              : shellText("untitled", { time: formatTime(session.usedAt ?? session.createdAt) })}
          </a>
          {session.task !== undefined && (
            <a class="pill" href={buildPath("/tasks/:task", { task: session.task })}>
              {shellText("task")}
            </a>
          )}
          {session.isWriting && <span class="pill live">{shellText("live")}</span>}
          <div class="dim">{[session.agent, session.project, session.model].filter(Boolean).join(" · ")}</div>
        </div>
      ),
    },
    { name: shellText("window"), isMinor: true, cell: (session) => <WindowCell session={session} /> },
    {
      name: shellText("cost"),
      isNumber: true,
      cell: (session) => <CostCell session={session} />,
    },
    {
      name: shellText("lastActivity"),
      isNumber: true,
      cell: ({ usedAt, createdAt }) => (
        <time title={formatTime(usedAt ?? createdAt)}>{formatAgo(usedAt ?? createdAt)}</time>
      ),
    },
    {
      name: shellText("continueColumn"),
      isMinor: true,
      cell: ({ resume }) => resume && <CopyButton text={resume} label={shellText("copyCommand")} />,
    },
  ];
}

/** What a conversation cost, and what edits saved or would have saved. */
function CostCell({ session: { usage, saved, wouldSave = 0 } }: { readonly session: Session }) {
  const isPriced = usage && usage.requests > usage.unpricedRequests;
  return (
    <>
      {isPriced ? formatMoney(usage.cost) : <span class="dim">{shellText("noPrice")}</span>}
      {saved ? (
        <div class="cost-note good">{shellText("savedCost", { cost: formatMoney(saved.savedCost) })}</div>
      ) : (
        isPriced &&
        wouldSave >= 0.01 && (
          <div class="cost-note dim">{shellText("wouldSaveCost", { cost: formatMoney(wouldSave) })}</div>
        )
      )}
    </>
  );
}

/** The size of the latest request in the model's window: from the cache, new, and free. */
function WindowCell({ session: { id, lastRequest } }: { readonly session: Session }) {
  if (!lastRequest) return <span class="dim">{shellText("noRequest")}</span>;
  const { promptTokens, cachedTokens, window } = lastRequest;
  return (
    <a class="window-cell" href={linkToWindow(id)}>
      <PartsBar
        label={shellText("window")}
        total={window ?? undefined}
        parts={[
          { name: shellText("cached"), value: cachedTokens, color: 7 },
          { name: shellText("fresh"), value: promptTokens - cachedTokens, color: 1 },
        ]}
      />
      <span class="number dim">
        {formatShort(promptTokens)} {window !== null && `/ ${formatShort(window)}`}
      </span>
    </a>
  );
}
