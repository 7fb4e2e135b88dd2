import { useEffect, useMemo, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { Loading } from "../../components/loading.tsx";
import { VirtualList } from "../../components/virtual-list.tsx";
import { formatCount, formatShort } from "../../format/number.ts";
import { onChange } from "../../live/changes.ts";
import { diffTexts } from "../../session/diff.ts";
import { DiffView } from "../../session/diff-view.tsx";
import { toPlainText } from "../../session/message-text.ts";
import type { MessageEntry, SessionWindow, Slot } from "../../session/session-types.ts";
import { linkToEntry, linkToWindow } from "../../shell/links.ts";
import { conversationText as text } from "./conversation-text.ts";
import { PlaceKeeper } from "./keep-place.ts";
import { MessageParts } from "./part-view.tsx";
import { nameRole } from "./row-view.tsx";
import { buildRows, type Row } from "./rows.ts";

/** Messages that come first: those that fill a screen, so that a large window does not keep the reader waiting. */
const FIRST_SLOTS = 30;

/** What the model sees: the messages of the next call, the newest first on the screen. */
export function SeesView({ session }: { readonly session: string }) {
  const [isWhole, setWhole] = useState(false);
  const seen = useResource(
    (signal) =>
      call(
        "GET /sessions/{session}/window",
        { params: { session }, query: { slots: true, ...(!isWhole && { last: FIRST_SLOTS }) } },
        { signal },
      ),
    [session, isWhole],
  );
  useEffect(() => {
    if (seen.value) setWhole(true);
  }, [seen.value !== undefined]);
  useEffect(
    () =>
      onChange((change) => {
        if (change.event === "session" && change.data.session === session) seen.reload();
      }),
    [session, seen.reload],
  );
  if (!seen.value)
    return seen.failure ? <ErrorState failure={seen.failure} retry={seen.reload} /> : <Loading />;
  const { slots = [] } = seen.value;
  if (slots.length === 0) return <EmptyState title={text("empty")} hint={text("emptyHint")} />;
  return (
    <>
      {seen.failure && <ErrorState failure={seen.failure} retry={seen.reload} />}
      <WindowNote seen={seen.value} />
      <SlotList session={session} slots={slots} />
    </>
  );
}

function WindowNote({ seen }: { readonly seen: SessionWindow }) {
  const { parts, tokens, limits, messages, session } = seen;
  const isWhole = seen.slots !== undefined && seen.slots.length >= messages;
  const edited = seen.slots?.filter(({ isEdited }) => isEdited).length ?? 0;
  return (
    <p class="window-note dim number">
      <span>{text("seenMessages", { count: formatCount(messages) })}</span>
      {isWhole && <span>{text("seenEdited", { count: formatCount(edited) })}</span>}
      <a href={linkToWindow(session)}>
        {text("seenTokens", { tokens: formatShort(tokens), most: formatShort(limits.most) })}
      </a>
      <span class="minor">
        {text("seenLead", {
          system: formatShort(parts.system),
          tools: formatShort(parts.tools),
          memories: formatShort(parts.memories),
        })}
      </span>
    </p>
  );
}

function SlotList({ session, slots }: { readonly session: string; readonly slots: readonly Slot[] }) {
  const { rows, slotOf } = useMemo(() => toRows(session, slots), [session, slots]);
  const keeper = useMemo(() => new PlaceKeeper(), []);
  useEffect(() => () => keeper.close(), []);
  return (
    <div class="talk">
      <VirtualList
        label={text("seenLabel")}
        count={rows.length}
        keyOf={(index) => rows[index]?.key ?? index}
        estimateHeight={110}
        row={(index) => {
          const row = rows[index];
          return row?.type === "message" && <SlotRow session={session} row={row} slotOf={slotOf} />;
        }}
        listRef={(list) => {
          keeper.attach(list);
          keeper.holdEnd();
        }}
      />
    </div>
  );
}

/** Slots as entries, so that results join their calls as they do in what was said. */
function toRows(session: string, slots: readonly Slot[]) {
  const slotOf = new Map<string, Slot>();
  const entries = slots.map((slot, index): MessageEntry => {
    const id = slot.entry ?? `note ${index}`;
    slotOf.set(id, slot);
    const from = slot.entry?.slice(0, slot.entry.lastIndexOf("#")) ?? session;
    return { kind: "message", id, session: from, seq: slot.seq, at: slot.at, message: slot.message };
  });
  return { rows: buildRows(entries, []), slotOf };
}

interface SlotRowProps {
  readonly session: string;
  readonly row: Extract<Row, { type: "message" }>;
  readonly slotOf: ReadonlyMap<string, Slot>;
}

function SlotRow({ session, row, slotOf }: SlotRowProps) {
  const ids = [row.entry.id, ...[...row.results.values()].map(({ entry }) => entry.id)];
  const slots = [...new Set(ids)].flatMap((id) => slotOf.get(id) ?? []);
  const [own] = slots;
  const tokens = slots.reduce((sum, slot) => sum + slot.tokens, 0);
  const isNote = own?.entry === null;
  const edited = slots.filter((slot) => slot.isEdited && slot.entry !== null);
  const { message, seq } = row.entry;
  return (
    <article class={`turn ${message.role}${isNote ? " note" : ""}`} tabIndex={-1} data-seq={seq}>
      <header>
        <b>{isNote ? text("note") : nameRole(message.role)}</b>
        {edited.length > 0 && <span class="pill warm">{text("edited")}</span>}
        <span class="place dim number">
          <span>{text("slotTokens", { count: formatCount(tokens) })}</span>
          {!isNote && <a href={linkToEntry(session, seq)}>#{seq}</a>}
        </span>
      </header>
      <MessageParts entry={isNote ? undefined : row.entry} message={message} results={row.results} />
      {edited.map((slot) => (
        <Comparison key={slot.entry} session={session} slot={slot} />
      ))}
    </article>
  );
}

/** An edited message next to the original, as a diff. */
function Comparison({ session, slot }: { readonly session: string; readonly slot: Slot }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="fold compare" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{text("compare", { seq: slot.seq })}</summary>
      {isOpen && <Original session={session} slot={slot} />}
    </details>
  );
}

function Original({ session, slot }: { readonly session: string; readonly slot: Slot }) {
  const entry = slot.entry ?? "";
  const original = useResource(
    (signal) => call("GET /sessions/{session}/entries/{entry}", { params: { session, entry } }, { signal }),
    [entry],
  );
  if (original.failure) return <ErrorState failure={original.failure} retry={original.reload} />;
  if (original.value?.kind !== "message") return null;
  return (
    <DiffView
      file={`#${slot.seq}`}
      lines={diffTexts(toPlainText(original.value.message), toPlainText(slot.message))}
    />
  );
}
