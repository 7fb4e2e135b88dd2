import { z } from "zod";
import { isOnLine, readPinnedEntries } from "../../../kernel/calls/read-pinned-entries.ts";
import { LonghaulError, type Session } from "../../../kernel/index.ts";
import { ApiError } from "../core/api-error.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { checkEntryRef, openForChange, openOwn } from "../core/own-sessions.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import {
  entryParams,
  entryRefSchema,
  limitQuery,
  metaInputSchema,
  seqSchema,
  sessionIdSchema,
  sessionParams,
} from "../schemas/common-schemas.ts";
import { entrySchema, lineSchema } from "../schemas/entry-schemas.ts";
import { sessionSchema } from "../schemas/session-schemas.ts";
import { describeSession } from "./session-summary.ts";

const tag = "Edits";
const pinSchema = z.object({
  session: z.string(),
  entry: z.string(),
  isPinned: z.boolean(),
  isChanged: z.boolean(),
});
const todoSchema = defineSchema(
  "Todo",
  z.object({
    text: z.string(),
    state: z.enum(["open", "doing", "done"]),
    entry: about(z.string(), "The entry that wrote the item as it is now."),
  }),
);

const pinEntry = defineRoute(
  {
    id: "pinEntry",
    method: "POST",
    path: "/sessions/{session}/pins",
    tag,
    summary: "Keep a message in the window, unchanged",
    params: sessionParams,
    body: z.strictObject({ entry: entryRefSchema }),
    reply: pinSchema,
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body }) => {
    await using session = await openForChange(kernel, caller, params.session);
    return await setPin(session, checkEntryRef(caller, session, body.entry), true);
  },
);

const unpinEntry = defineRoute(
  {
    id: "unpinEntry",
    method: "DELETE",
    path: "/sessions/{session}/pins/{entry}",
    tag,
    summary: "Remove the pin from a message",
    params: entryParams,
    reply: pinSchema,
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params }) => {
    await using session = await openForChange(kernel, caller, params.session);
    return await setPin(session, checkEntryRef(caller, session, params.entry), false);
  },
);

async function setPin(session: Session, which: number | string, isPinned: boolean) {
  const entry = await session.entry(which);
  if (entry?.kind !== "message" || !(await isOnLine(session, entry)))
    throw new LonghaulError(
      "ENTRY_NOT_FOUND",
      `Entry ${which} is no message on the active line of ${session.id}.`,
      {
        details: { session: session.id, id: String(which) },
      },
    );
  const isKnown = (await readPinnedEntries(session)).some(({ id }) => id === entry.id);
  if (isKnown !== isPinned) await (isPinned ? session.pin(entry.id) : session.unpin(entry.id));
  return { session: session.id, entry: entry.id, isPinned, isChanged: isKnown !== isPinned };
}

const listPins = defineRoute(
  {
    id: "listPins",
    method: "GET",
    path: "/sessions/{session}/pins",
    tag,
    summary: "List pinned messages",
    params: sessionParams,
    reply: z.object({ session: z.string(), pins: z.array(entrySchema) }),
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params }) => {
    await using session = await openOwn(kernel, caller, params.session);
    return { session: session.id, pins: await readPinnedEntries(session) };
  },
);

const rewindSession = defineRoute(
  {
    id: "rewindSession",
    method: "POST",
    path: "/sessions/{session}/rewind",
    tag,
    summary: "Go back to just after an entry; later entries leave the line but stay in the log",
    params: sessionParams,
    body: z.strictObject({ entry: entryRefSchema }),
    reply: z.object({
      session: z.string(),
      line: about(seqSchema, "Names the new line."),
      previous: z.number().int(),
    }),
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "NOT_ON_LINE", "LINE_LIMIT", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body }) => {
    await using session = await openForChange(kernel, caller, params.session);
    const { seq, previous } = await session.rewind(checkEntryRef(caller, session, body.entry));
    return { session: session.id, line: seq, previous };
  },
);

const removeEntries = defineRoute(
  {
    id: "removeEntries",
    method: "POST",
    path: "/sessions/{session}/remove",
    tag,
    summary: "Take entries off the line; they stay in the log, and an earlier line brings them back",
    params: sessionParams,
    body: z.strictObject({
      entries: z.array(entryRefSchema).min(1).max(1_000),
      reason: z.string().min(1).max(200).optional(),
    }),
    reply: z.object({ session: z.string(), line: seqSchema, previous: z.number().int() }),
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "NOT_ON_LINE", "LINE_LIMIT", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body: { entries, reason } }) => {
    await using session = await openForChange(kernel, caller, params.session);
    const refs = entries.map((entry) => checkEntryRef(caller, session, entry));
    const { seq, previous } = await session.remove(refs, reason === undefined ? {} : { reason });
    return { session: session.id, line: seq, previous };
  },
);

const listLines = defineRoute(
  {
    id: "listLines",
    method: "GET",
    path: "/sessions/{session}/lines",
    tag,
    summary: "List the lines of a conversation, newest first",
    params: sessionParams,
    query: z.strictObject({ limit: limitQuery(50, 1_000) }),
    reply: z.object({ session: z.string(), lines: z.array(lineSchema) }),
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params, query }) => {
    await using session = await openOwn(kernel, caller, params.session);
    return { session: session.id, lines: await session.lines(query.limit) };
  },
);

const listTodos = defineRoute(
  {
    id: "listTodos",
    method: "GET",
    path: "/sessions/{session}/todos",
    tag,
    summary: "Show the to-do list of the line now chosen, as the agent last wrote it",
    params: sessionParams,
    reply: z.object({ session: z.string(), todos: z.array(todoSchema) }),
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params }) => {
    await using session = await openOwn(kernel, caller, params.session);
    return { session: session.id, todos: await session.todos() };
  },
);

const chooseLine = defineRoute(
  {
    id: "chooseLine",
    method: "POST",
    path: "/sessions/{session}/lines",
    tag,
    summary: "Return to an earlier line, which undoes a rewind",
    params: sessionParams,
    body: z.strictObject({ line: about(z.number().int().min(0), "The seq of a line, as listed.") }),
    reply: z.object({ session: z.string(), line: seqSchema, previous: z.number().int() }),
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body }) => {
    await using session = await openForChange(kernel, caller, params.session);
    const { seq, previous } = await session.choose(body.line);
    return { session: session.id, line: seq, previous };
  },
);

const forkSession = defineRoute(
  {
    id: "forkSession",
    method: "POST",
    path: "/sessions/{session}/fork",
    tag,
    summary: "Create a conversation that begins with this one's line; copies nothing",
    params: sessionParams,
    body: z.strictObject({
      at: about(entryRefSchema.optional(), "The last entry of the fork; default: the newest."),
      id: about(sessionIdSchema.optional(), "A new id if absent."),
      title: z.string().max(1_000).optional(),
      meta: metaInputSchema.optional(),
    }),
    reply: sessionSchema,
    status: 201,
    errors: ["SESSION_NOT_FOUND", "SESSION_EXISTS", "ENTRY_NOT_FOUND", "NOT_ON_LINE", "FORBIDDEN"],
  },
  async ({ services, caller, params, body }) => {
    const { kernel } = services;
    await using session = await openForChange(kernel, caller, params.session);
    const prefix = body.id === undefined ? "" : caller.homePrefix;
    const given = body.id ?? `${session.id}/fork-${crypto.randomUUID().slice(0, 8)}`;
    const id = given.startsWith(prefix) ? given : `${prefix}${given}`;
    if (await kernel.find(id))
      throw new ApiError("SESSION_EXISTS", `Session ${JSON.stringify(id)} exists already.`);
    const { title, meta } = body;
    await using fork = await session.fork({
      id,
      ...(body.at !== undefined && { at: checkEntryRef(caller, session, body.at) }),
      ...(title !== undefined && { title }),
      ...(meta !== undefined && {
        meta: meta as NonNullable<Awaited<ReturnType<Session["record"]>>["meta"]>,
      }),
    });
    return await describeSession(kernel, fork, services, await fork.record());
  },
);

export const LINE_ROUTES = [
  listPins,
  pinEntry,
  unpinEntry,
  rewindSession,
  removeEntries,
  listLines,
  listTodos,
  chooseLine,
  forkSession,
] as const satisfies readonly ApiRoute[];
