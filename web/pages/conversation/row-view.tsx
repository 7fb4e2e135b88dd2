import { formatCount } from "../../format/number.ts";
import { formatClock, formatTime } from "../../format/time.ts";
import { sessionText } from "../../session/session-text.ts";
import type { Entry, Message } from "../../session/session-types.ts";
import { linkToEntry, linkToSession } from "../../shell/links.ts";
import { conversationText as text } from "./conversation-text.ts";
import { type EditActions, EditRow } from "./edit-row.tsx";
import { type EntryActions, EntryMenu } from "./entry-menu.tsx";
import { MessageParts } from "./part-view.tsx";
import { isEntry, type Row } from "./rows.ts";

interface RowProps {
  readonly row: Row;
  /** The entry that the address names. */
  readonly marked: string | undefined;
  readonly actions: EntryActions & EditActions;
}

/** One row of what was said. */
export function RowView({ row, marked, actions }: RowProps) {
  if (row.type === "draft")
    return (
      <article class={`turn ${row.draft.message.role} draft`} aria-label={text("writing")}>
        <header>
          <b>{nameRole(row.draft.message.role)}</b>
          <span class="good writing">{text("writing")}</span>
        </header>
        <MessageParts message={row.draft.message} />
      </article>
    );
  const { entry } = row;
  const isMarked =
    marked !== undefined &&
    (isEntry(entry, marked) ||
      (row.type === "message" && [...row.results.values()].some((one) => isEntry(one.entry, marked))));
  const mark = isMarked ? " marked" : "";
  if (row.type === "entry") return <OtherRow entry={row.entry} mark={mark} actions={actions} />;
  const { message } = row.entry;
  return (
    <article
      class={`turn ${message.role}${mark}`}
      data-seq={entry.seq}
      tabIndex={-1}
      aria-current={isMarked || undefined}
    >
      <header>
        <b>{nameRole(message.role)}</b>
        {message.model && <span class="dim minor">{message.model}</span>}
        {actions.isPinned(entry) && <span class="pill">{text("pinned")}</span>}
        {message.interrupted && <span class="pill warm">{text("interrupted")}</span>}
        <Place entry={entry} session={actions.session} />
        <EntryMenu entry={entry} actions={actions} />
      </header>
      <MessageParts entry={entry} message={message} results={row.results} />
    </article>
  );
}

/** The time of an entry and its number, which is the link to it. */
function Place({ entry, session }: { readonly entry: Entry; readonly session: string }) {
  const href = linkToEntry(session, entry.seq);
  return (
    <span class="place dim number">
      <time title={formatTime(entry.at)}>{formatClock(entry.at)}</time>
      {entry.session === session ? (
        <a href={href}>#{entry.seq}</a>
      ) : (
        <a href={linkToEntry(entry.session, entry.seq)} title={text("fromParent")}>
          ↰#{entry.seq}
        </a>
      )}
    </span>
  );
}

interface OtherRowProps {
  readonly entry: Extract<Row, { type: "entry" }>["entry"];
  readonly mark: string;
  readonly actions: EntryActions & EditActions;
}

function OtherRow({ entry, mark, actions }: OtherRowProps) {
  if (entry.kind === "overlay") return <EditRow entry={entry} mark={mark} actions={actions} />;
  return (
    <article class={`event ${entry.kind}${mark}`} data-seq={entry.seq} tabIndex={-1}>
      <span class="event-text">{describeEntry(entry, actions)}</span>
      <Place entry={entry} session={actions.session} />
    </article>
  );
}

function describeEntry(entry: OtherRowProps["entry"], actions: EditActions) {
  switch (entry.kind) {
    case "notice":
      return entry.requestEnd ? describeEnd(entry.requestEnd) : entry.text;
    case "redacted":
      return entry.reason ? text("redactedWhy", { reason: entry.reason }) : text("redacted");
    case "damaged":
      return <span class="bad">{text("damaged", { problem: entry.problem })}</span>;
    case "line":
      return (
        <>
          {text(entry.departure === "trimmed" ? "lineTrimmed" : "lineChanged", { reason: entry.reason })}
          <button type="button" class="quiet" onClick={() => actions.chooseLine(entry.previous)}>
            {text("returnToLine")}
          </button>
        </>
      );
    case "task":
      return (
        <>
          {text("task", { state: nameTaskNote(entry.note) })}{" "}
          <a href={`/tasks/${encodeURIComponent(entry.task)}`}>{entry.task}</a>
        </>
      );
    case "pin":
      return (
        <>
          {text(entry.isPinned ? "pinned" : "unpinned")}{" "}
          <a href={linkToEntry(entry.target.session, entry.target.seq)}>#{entry.target.seq}</a>
        </>
      );
    default:
      return <a href={linkToSession(entry.session)}>{entry.kind}</a>;
  }
}

function describeEnd({
  by,
  failure,
  retries = 0,
}: NonNullable<Extract<Entry, { kind: "notice" }>["requestEnd"]>) {
  const again = retries > 0 ? text("endedRetries", { count: formatCount(retries) }) : "";
  return [text(`ended_${by}`), failure, again].filter(Boolean).join(" · ");
}

const NOTE_TEXTS = {
  created: "taskCreated",
  moved: "taskMoved",
  isolated: "taskIsolated",
  output: "taskOutput",
  call: "taskCall",
  step: "taskStep",
  result: "taskResult",
  checkpoint: "taskCheckpoint",
  summary: "taskSummary",
  loop: "taskLoop",
} as const;

const STATE_TEXTS = { completed: "taskCompleted", failed: "taskFailed", killed: "taskKilled" } as const;

/** The name of an event of a task; of its end, the state. An unknown one keeps its own name. */
function nameTaskNote(note: Extract<Entry, { kind: "task" }>["note"]): string {
  if (note.type === "notice") {
    const { state } = note.notice as { readonly state: keyof typeof STATE_TEXTS };
    return text(STATE_TEXTS[state]);
  }
  const key = NOTE_TEXTS[note.type as keyof typeof NOTE_TEXTS];
  return key ? text(key) : note.type;
}

const ROLES = {
  user: "roleUser",
  assistant: "roleAssistant",
  system: "roleSystem",
  tool: "roleTool",
} as const;

/** The name of a role. */
export function nameRole(role: Message["role"]): string {
  return sessionText(ROLES[role]);
}
