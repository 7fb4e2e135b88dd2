import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { Loading } from "../../components/loading.tsx";
import { VirtualList } from "../../components/virtual-list.tsx";
import { setQuery } from "../../shell/router.ts";
import { conversationText as text } from "./conversation-text.ts";
import type { EditActions } from "./edit-row.tsx";
import type { EntryActions } from "./entry-menu.tsx";
import { JumpBar } from "./jump-bar.tsx";
import { PlaceKeeper, type RowList } from "./keep-place.ts";
import { RowView } from "./row-view.tsx";
import { buildRows, findRow, type Row } from "./rows.ts";
import { useConversation } from "./use-conversation.ts";
import { useEntryActions } from "./use-entry-actions.tsx";

interface SaidViewProps {
  readonly session: string;
  readonly line: "active" | "log";
  readonly entry: string | undefined;
  readonly entries: number;
  /** Called when the first page shows, or its failure. */
  readonly onShown: () => void;
}

/** The row that a conversation opens at: the one of the address, else the last one. */
function findStartIndex(rows: readonly Row[], entry: string | undefined, isAtEnd: boolean): number {
  const named = entry === undefined ? -1 : findRow(rows, entry);
  return named >= 0 ? named : isAtEnd ? rows.length : 0;
}

/** Rows this close to an end make the next page load. */
const NEAR_ROWS = 12;

/** What was said: the entries of the line, of any number. */
export function SaidView({ session, line, entry, entries, onShown }: SaidViewProps) {
  const keeper = useMemo(() => new PlaceKeeper(), []);
  useEffect(() => () => keeper.close(), []);
  const talk = useConversation({ session, line, entry, onBeforeChange: () => keeper.remember() });
  const { pages, loaded, drafts, failure } = talk;
  keeper.isAtEnd = loaded.isAtEnd;
  const rows = useMemo(() => buildRows(loaded.entries, drafts), [loaded.entries, drafts]);
  const latest = useRef(rows);
  latest.current = rows;
  const range = useRef({ first: 0, last: 0 });

  const fill = () => {
    const { first, last } = range.current;
    if (first < NEAR_ROWS) void pages.loadOlder().catch(() => undefined);
    if (last > latest.current.length - NEAR_ROWS) void pages.loadNewer().catch(() => undefined);
  };
  const jumped = useRef(0);
  useLayoutEffect(() => {
    if (loaded.jump === 0) return;
    if (jumped.current === loaded.jump) return keeper.restore(rows.map(({ key }) => key));
    jumped.current = loaded.jump;
    goToPlace();
  }, [rows]);
  const goToPlace = () => {
    if (entry !== undefined && findRow(latest.current, entry) >= 0)
      keeper.holdRow(() => findRow(latest.current, entry));
    else if (loaded.isAtEnd) keeper.holdEnd();
    else keeper.holdRow(() => 0);
  };
  useEffect(() => {
    if (loaded.jump > 0) fill();
    if (loaded.jump > 0 || failure) onShown();
  }, [loaded, failure]);
  // A new address names another entry: it may be here already.
  const first = useRef(true);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    if (entry === undefined) return;
    if (findRow(rows, entry) >= 0) keeper.holdRow(() => findRow(latest.current, entry));
    else void talk.open({ entry });
  }, [entry]);

  const { actions, dialog } = useEntryActions({ session, talk });
  const all: EntryActions & EditActions = actions;
  const goTo = (place: Parameters<typeof talk.open>[0]) => {
    if (place.entry === undefined) setQuery({ entry: undefined });
    void talk.open(place);
  };
  if (failure && loaded.entries.length === 0)
    return (
      <>
        <ErrorState failure={failure} retry={() => void talk.open(entry === undefined ? {} : { entry })} />
        <p class="actions">
          {failure.code === "NOT_ON_LINE" && (
            <button type="button" class="primary" onClick={() => setQuery({ line: "log" })}>
              {text("openInLog")}
            </button>
          )}
          {entry !== undefined && (
            <button type="button" onClick={() => goTo({})}>
              {text("toEnd")}
            </button>
          )}
        </p>
      </>
    );
  if (loaded.jump === 0) return <Loading />;
  if (rows.length === 0) return <EmptyState title={text("empty")} hint={text("emptyHint")} />;
  return (
    <>
      {failure && <ErrorState failure={failure} />}
      {line === "log" && (
        <p class="log-note dim">
          {text("logNote")}{" "}
          <button type="button" class="quiet" onClick={() => setQuery({ line: undefined, entry: undefined })}>
            {text("toActiveLine")}
          </button>
        </p>
      )}
      <div class="talk">
        <VirtualList
          label={text("messages")}
          count={rows.length}
          keyOf={(index) => rows[index]?.key ?? index}
          estimateHeight={110}
          startIndex={findStartIndex(rows, entry, loaded.isAtEnd)}
          row={(index) => {
            const row = rows[index];
            return row && <RowView row={row} marked={entry} actions={all} />;
          }}
          onRange={(from, to) => {
            range.current = { first: from, last: to };
            fill();
          }}
          listRef={(list: RowList) => {
            keeper.attach(list);
            goToPlace();
          }}
        />
      </div>
      <JumpBar
        loaded={loaded}
        total={Math.max(entries, talk.head)}
        hasNew={talk.hasNew}
        onStart={() => goTo({ isStart: true })}
        onEnd={() => (loaded.isAtEnd ? keeper.holdEnd() : goTo({}))}
        onEntry={(seq) => setQuery({ entry: String(seq) })}
      />
      {dialog}
    </>
  );
}
