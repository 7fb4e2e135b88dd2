import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import {
  type Entry,
  flattenParts,
  LonghaulError,
  type PageOptions,
  type Session,
} from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { ApiError } from "../core/api-error.ts";
import { about } from "../core/named-schema.ts";
import { checkEntryRef, openOwn } from "../core/own-sessions.ts";
import { type ApiRoute, defineDownload, defineRoute, defineStream } from "../core/route.ts";
import type { StreamEvent } from "../core/send-reply.ts";
import { entryParams, limitQuery, sessionParams } from "../schemas/common-schemas.ts";
import { entrySchema, KIND_NAMES } from "../schemas/entry-schemas.ts";
import { queryFlag, queryList, queryNumber } from "../schemas/query-values.ts";
import { draftSchema, entryPageSchema } from "../schemas/session-schemas.ts";

const tag = "Entries";
const kindsSchema = about(
  queryList(z.enum(KIND_NAMES)).optional(),
  "Kinds of entries, separated by commas; by default those that a person reads: message, notice, redacted, damaged.",
);
const placeSchema = z.string().min(1).max(1_024).optional();

/** Media types that a browser shows without running anything in them. */
const SAFE_MIMES =
  /^image\/(?:png|jpeg|gif|webp|avif|bmp)$|^application\/pdf$|^text\/plain$|^audio\/|^video\//;

const listEntries = defineRoute(
  {
    id: "listEntries",
    method: "GET",
    path: "/sessions/{session}/entries",
    tag,
    summary: "Read a page of entries",
    description:
      "By default the newest page of the active line. `before`, `after` and `around` take a cursor of an earlier page, a seq, or the id of an entry. With `line=log`, entries of all lines are read in order of seq, abandoned ones included.",
    params: sessionParams,
    query: z.strictObject({
      limit: limitQuery(50, 500),
      before: about(placeSchema, "Entries older than this place."),
      after: about(placeSchema, "Entries newer than this place."),
      around: about(placeSchema, "The page with this entry in its middle."),
      kinds: kindsSchema,
      line: about(z.enum(["active", "log"]).default("active"), "The active line, or the whole log."),
      full: about(queryFlag().default(false), "True: texts that are too large for the log are loaded."),
    }),
    reply: entryPageSchema,
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "NOT_ON_LINE", "ARGUMENT_INVALID"],
  },
  async ({ services: { kernel }, caller, params, query }) => {
    await using session = await openOwn(kernel, caller, params.session);
    const { limit, kinds, line, full } = query;
    const toPlace = (place: string) => checkEntryRef(caller, session, place);
    const page =
      line === "log"
        ? await readLogPage(session, query)
        : await session.page({
            limit,
            ...dropUndefined({ kinds }),
            ...(await toPagePlace(session, query, toPlace)),
          });
    if (!full) return page;
    const entries: Entry[] = [];
    for (const entry of page.entries)
      entries.push(
        entry.kind === "message"
          ? { ...entry, message: await kernel.blobs.restoreMessage(entry.message) }
          : entry,
      );
    return { ...page, entries };
  },
);

/** Drafts are stored without a commit of the log, so they are looked at in this interval. */
const LOOK_MS = 250;

interface PageQuery {
  readonly limit: number;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly around?: string | undefined;
  readonly kinds?: readonly (typeof KIND_NAMES)[number][] | undefined;
}

/** A seq or id becomes a cursor on the active line; a cursor stays. */
async function toPagePlace(
  session: Session,
  { before, after, around }: PageQuery,
  toPlace: (place: string) => number | string,
): Promise<Pick<PageOptions, "before" | "after" | "around">> {
  const { lineSeq } = await session.record();
  const toCursor = (place: string) => {
    const cursor = /^(\d{1,10})@(.*)$/s.exec(place);
    if (cursor) {
      if (cursor[2]) toPlace(cursor[2]);
      return place;
    }
    const which = toPlace(place);
    return `${lineSeq}@${typeof which === "number" ? `${session.id}#${which}` : which}`;
  };
  return dropUndefined({
    before: before !== undefined ? toCursor(before) : undefined,
    after: after !== undefined ? toCursor(after) : undefined,
    around: around !== undefined ? toPlace(around) : undefined,
  });
}

/** A page of the log by seq: seqs have no gaps, so a page is a range of them. */
async function readLogPage(session: Session, { limit, before, after, around, kinds }: PageQuery) {
  const { seq: head } = await session.head();
  const toSeq = (place: string) => {
    const seq = Number(/^#?(\d{1,10})$/.exec(place)?.[1]);
    if (seq >= 0) return seq;
    throw new ApiError(
      "REQUEST_INVALID",
      `${JSON.stringify(place.slice(0, 80))} is no seq; pages of the log take seqs.`,
    );
  };
  let from = head - limit + 1;
  if (before !== undefined) from = toSeq(before) - limit;
  else if (after !== undefined) from = toSeq(after) + 1;
  else if (around !== undefined) from = toSeq(around) - Math.floor(limit / 2);
  const first = Math.max(1, from);
  const to = Math.min(head, (before === undefined ? Math.max(first, from) : from) + limit - 1);
  const entries =
    to < first ? [] : await session.read({ from: first, to, limit, ...dropUndefined({ kinds }) });
  return { entries, ...(first > 1 && { before: String(first) }), after: String(Math.max(to, first - 1)) };
}

const getEntry = defineRoute(
  {
    id: "getEntry",
    method: "GET",
    path: "/sessions/{session}/entries/{entry}",
    tag,
    summary: "Read one entry in full",
    params: entryParams,
    reply: entrySchema,
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params }) => {
    await using session = await openOwn(kernel, caller, params.session);
    const entry = await requireEntry(session, checkEntryRef(caller, session, params.entry));
    return entry.kind === "message"
      ? { ...entry, message: await kernel.blobs.restoreMessage(entry.message) }
      : entry;
  },
);

async function requireEntry(session: Session, which: number | string): Promise<Entry> {
  const entry = await session.entry(which);
  if (entry) return entry;
  throw new LonghaulError("ENTRY_NOT_FOUND", `There is no entry ${JSON.stringify(which)} in ${session.id}.`, {
    details: { session: session.id, id: String(which) },
  });
}

const getBlob = defineDownload(
  {
    id: "getBlob",
    method: "GET",
    path: "/sessions/{session}/entries/{entry}/blobs/{digest}",
    tag,
    summary: "Read the bytes of an image, a file or a large part of an entry",
    params: z.strictObject({
      ...entryParams.shape,
      digest: z.string().regex(/^[0-9a-f]{64}$/, "expected 64 hexadecimal digits"),
    }),
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "BLOB_ABSENT", "BLOB_CORRUPT"],
  },
  async ({ services: { kernel }, caller, params }) => {
    await using session = await openOwn(kernel, caller, params.session);
    const entry = await requireEntry(session, checkEntryRef(caller, session, params.entry));
    // Knowing a digest is not enough: the entry must be the caller's, and must have the blob.
    const part =
      entry.kind === "message"
        ? flattenParts(entry.message).find((one) => one.type === "blob" && one.digest === params.digest)
        : undefined;
    if (part?.type !== "blob")
      throw new ApiError("BLOB_ABSENT", `Entry ${entry.id} has no blob ${params.digest}.`);
    const mime = part.of === undefined ? part.mime : "text/plain; charset=utf-8";
    const isSafe = part.of !== undefined || SAFE_MIMES.test(part.mime);
    return {
      mime,
      sizeBytes: part.sizeBytes,
      ...(!isSafe && { fileName: part.name ?? params.digest }),
      bytes: kernel.blobs.stream(params.digest),
    };
  },
);

const listDrafts = defineRoute(
  {
    id: "listDrafts",
    method: "GET",
    path: "/sessions/{session}/drafts",
    tag,
    summary: "Read the messages that are being written now",
    params: sessionParams,
    reply: z.object({ drafts: z.array(draftSchema) }),
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params }) => {
    await using session = await openOwn(kernel, caller, params.session);
    return { drafts: await readDrafts(session) };
  },
);

const tailEntries = defineStream(
  {
    id: "tailEntries",
    method: "GET",
    path: "/sessions/{session}/tail",
    tag,
    summary: "Follow the log as server-sent events",
    description:
      "Each event has the seq of its entry as id, so a client that reconnects with Last-Event-ID misses nothing and gets nothing twice. Without `after` and Last-Event-ID, entries appended from now on are sent.",
    params: sessionParams,
    query: z.strictObject({
      after: about(queryNumber(0).optional(), "Send entries after this seq; 0 for all."),
      kinds: about(queryList(z.enum(KIND_NAMES)).optional(), "Kinds of entries; default all."),
      drafts: about(
        queryFlag().default(false),
        "True: sends the messages that are being written, whenever they change, as `drafts`.",
      ),
    }),
    events: { entry: entrySchema, drafts: z.object({ drafts: z.array(draftSchema) }) },
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params, query, lastEventId, signal }) => {
    const session = await openOwn(kernel, caller, params.session);
    const last =
      lastEventId !== undefined && /^\d{1,10}$/.test(lastEventId) ? Number(lastEventId) : undefined;
    const after = last ?? query.after;
    const entries = session.tail({ signal, ...dropUndefined({ after, kinds: query.kinds }) });
    return followTail(session, entries, { hasDrafts: query.drafts, signal });
  },
);

export const ENTRY_ROUTES = [
  listEntries,
  getEntry,
  getBlob,
  listDrafts,
  tailEntries,
] as const satisfies readonly ApiRoute[];

interface FollowOptions {
  /** True to send the messages that are being written too. */
  readonly hasDrafts: boolean;
  readonly signal: AbortSignal;
}

/** The messages that are being written in a session, as the API shows them. */
async function readDrafts(session: Session) {
  return (await session.drafts()).map(({ id, at, body }) => ({ id, at, message: body.message }));
}

/** Yields new entries as events, and drafts whenever one changes; closes the session at the end. */
async function* followTail(
  session: Session,
  entries: AsyncGenerator<Entry>,
  { hasDrafts, signal }: FollowOptions,
): AsyncGenerator<StreamEvent> {
  try {
    if (!hasDrafts) {
      for await (const entry of entries) yield toEntryEvent(entry);
      return;
    }
    let shown = "[]";
    let next = entries.next();
    let look: Promise<undefined> | undefined;
    while (!signal.aborted) {
      look ??= waitForLook(signal);
      const found = await Promise.race([next, look]);
      if (found?.done) return;
      if (found) {
        yield toEntryEvent(found.value);
        next = entries.next();
        if (shown === "[]") continue;
      } else look = undefined;
      const drafts = await readDrafts(session);
      const text = JSON.stringify(drafts.map(({ id, message }) => [id, message]));
      if (text === shown) continue;
      shown = text;
      yield { event: "drafts", data: { drafts } };
    }
  } finally {
    // A tail that still waits for an entry ends with its signal, or with the session.
    await session.close();
  }
}

function toEntryEvent(entry: Entry): StreamEvent {
  return { id: String(entry.seq), event: "entry", data: entry };
}

function waitForLook(signal: AbortSignal): Promise<undefined> {
  return sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
}
