import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import { loadMarkdown } from "../../components/markdown.tsx";
import type { Draft, Entry, OverlayEntry } from "../../session/session-types.ts";
import { EntryPages, type LoadedEntries, type PagePlace } from "./entry-pages.ts";
import { followSession } from "./follow-session.ts";

/** Kinds of entries that the page shows. */
const KINDS = ["message", "notice", "redacted", "damaged", "overlay", "line", "task"] as const;
const PAGE_SIZE = 60;
const MAX_ENTRIES = 360;

/** The conversation as a page holds it. */
export interface Conversation {
  readonly pages: EntryPages;
  readonly loaded: LoadedEntries;
  readonly drafts: readonly Draft[];
  readonly failure: ApiFailure | undefined;
  /** True if entries were written that do not show because the reader is elsewhere. */
  readonly hasNew: boolean;
  /** Seq of the newest entry, as far as the page knows. */
  readonly head: number;
  readonly pins: ReadonlySet<string>;
  readonly holdingEdits: (overlay: OverlayEntry) => readonly number[] | null | undefined;
  readonly open: (place: { readonly entry?: string; readonly isStart?: boolean }) => Promise<void>;
  readonly reloadPins: () => void;
  readonly reloadEdits: () => void;
}

interface ConversationOptions {
  readonly session: string;
  /** "active" for the active line, "log" for the entries of all lines. */
  readonly line: "active" | "log";
  /** The entry that the address names. */
  readonly entry: string | undefined;
  /** Called before the entries change, so that the view can keep its place. */
  readonly onBeforeChange: () => void;
}

/** Holds the entries around the reader, what is being written, pins and edits in effect, and keeps them current. */
export function useConversation({ session, line, entry, onBeforeChange }: ConversationOptions): Conversation {
  const before = useRef(onBeforeChange);
  before.current = onBeforeChange;
  const [failure, setFailure] = useState<ApiFailure>();
  const [drafts, setDrafts] = useState<readonly Draft[]>([]);
  const [hasNew, setHasNew] = useState(false);
  const [head, setHead] = useState(0);
  const [pins, setPins] = useState<ReadonlySet<string>>(new Set());
  const [holding, setHolding] = useState<ReadonlyMap<string, readonly number[]>>();
  const fail = useCallback((error: unknown) => {
    if (!(error instanceof DOMException && error.name === "AbortError")) setFailure(toFailure(error));
  }, []);

  const [, setRound] = useState(0);
  const pages = useMemo(() => {
    const read = async (place: PagePlace, signal: AbortSignal) => {
      const query = { limit: PAGE_SIZE, kinds: [...KINDS], line, ...place };
      const [page] = await Promise.all([
        call("GET /sessions/{session}/entries", { params: { session }, query }, { signal }),
        // Without the renderer, messages show as plain text.
        loadMarkdown().catch(() => undefined),
      ]);
      return page;
    };
    const onChange = () => {
      before.current();
      setRound((last) => last + 1);
    };
    return new EntryPages({ read, onChange, pageSize: PAGE_SIZE, maxEntries: MAX_ENTRIES });
  }, [session, line]);
  const { loaded } = pages;

  const open = useCallback<Conversation["open"]>(
    async ({ entry: around, isStart = false }) => {
      setFailure(undefined);
      setHasNew(false);
      try {
        if (around !== undefined) await pages.openAround(around);
        else if (isStart) await pages.openOldest(await findStart(session, line));
        else await pages.openNewest();
      } catch (error) {
        fail(error);
      }
    },
    [pages],
  );
  useEffect(() => {
    void open(entry === undefined ? {} : { entry });
    return () => pages.close();
  }, [pages]);

  const reloadPins = useCallback(() => {
    call("GET /sessions/{session}/pins", { params: { session } }).then(
      (found) => setPins(new Set(found.pins.map(({ id }) => id))),
      fail,
    );
  }, [session]);
  const reloadEdits = useCallback(() => {
    call("GET /sessions/{session}/receipts", {
      params: { session },
      query: { limit: 1_000, holding: true },
    }).then(
      ({ overlays }) => setHolding(new Map(overlays.map((one) => [one.overlay, one.holdingEdits]))),
      fail,
    );
  }, [session]);
  const isOpen = loaded.jump > 0;
  const hasEdits = loaded.entries.some(({ kind }) => kind === "overlay");
  useEffect(() => {
    if (isOpen) reloadPins();
  }, [isOpen, session]);
  useEffect(() => {
    if (hasEdits) reloadEdits();
  }, [hasEdits, session]);

  useEffect(() => {
    if (!isOpen) return;
    const end = new AbortController();
    const receive = (entry: Entry) => {
      setHead((last) => Math.max(last, entry.seq));
      if (entry.kind === "line") return void open({});
      if (entry.kind === "pin") return reloadPins();
      if (entry.kind === "overlay") reloadEdits();
      if (!pages.append(entry)) setHasNew(true);
    };
    const last = pages.loaded.isAtEnd
      ? pages.loaded.entries.findLast((one) => one.session === session)
      : undefined;
    void followSession({
      session,
      after: last?.seq,
      kinds: [...KINDS, "pin"],
      onEntry: receive,
      onDrafts: (written) => {
        before.current();
        setDrafts(written);
      },
      signal: end.signal,
    }).catch(fail);
    return () => end.abort();
  }, [isOpen, pages]);

  const holdingEdits = (overlay: OverlayEntry) => {
    if (!holding) return undefined;
    return holding.get(overlay.id) ?? null;
  };
  return { pages, loaded, drafts, failure, hasNew, head, pins, holdingEdits, open, reloadPins, reloadEdits };
}

/** The cursor before the first entry. */
async function findStart(session: string, line: "active" | "log"): Promise<string> {
  if (line === "log") return "0";
  const { lines } = await call("GET /sessions/{session}/lines", { params: { session }, query: { limit: 1 } });
  return `${lines[0]?.seq ?? 0}@`;
}
