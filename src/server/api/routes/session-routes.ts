import { z } from "zod";
import { exportSession, type OutputPiece, WRITERS } from "../../../histories/index.ts";
import { type Json, type Kernel, LonghaulError, type SessionRecord } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { isOwnSession } from "../../../model/session-key.ts";
import { findOrigin } from "../../../model/session-origin.ts";
import type { ApiCaller } from "../core/api-caller.ts";
import { ApiError } from "../core/api-error.ts";
import { computeConfirmation, isConfirmed } from "../core/confirmation.ts";
import { about } from "../core/named-schema.ts";
import { isMemorySession, listRecords, openForChange, openOwn, requireRecord } from "../core/own-sessions.ts";
import { type ApiRoute, defineDownload, defineRoute } from "../core/route.ts";
import {
  confirmSchema,
  freedSchema,
  limitQuery,
  metaInputSchema,
  sessionIdSchema,
  sessionParams,
} from "../schemas/common-schemas.ts";
import { queryFlag, queryList, queryNumber } from "../schemas/query-values.ts";
import { sessionPageSchema, sessionSchema } from "../schemas/session-schemas.ts";
import type { StoreUsage } from "../spending/store-usage.ts";
import {
  describeSession,
  findSessionKind,
  readSessionSummary,
  type SessionSummary,
} from "./session-summary.ts";

const tag = "Sessions";
const titleSchema = z.string().max(1_000);

const usageQuery = about(
  queryFlag().default(true),
  "False: leaves the sums of usage out, whose first reading takes a while for a very long conversation.",
);

const listQuery = z.strictObject({
  limit: limitQuery(50, 200),
  before: about(sessionIdSchema.optional(), "Only sessions that follow this one in the list."),
  prefix: about(
    z.string().min(1).optional(),
    "Beginning of the id; with a token, after the person's prefix.",
  ),
  agent: about(z.string().optional(), "Beginning of the agent's name."),
  project: about(z.string().optional(), "A piece of the project's name."),
  title: about(z.string().optional(), "A piece of the title."),
  kind: about(queryList(z.string()).optional(), 'Kinds of sessions; default all except "memory".'),
  parent: about(sessionIdSchema.optional(), "Only children and forks of this session."),
  since: about(
    queryNumber(0).optional(),
    "Only sessions with an entry since this time, in milliseconds since 1970.",
  ),
  usage: usageQuery,
  sort: about(
    z.enum(["created", "used"]).default("created"),
    "By the time of creation, or by the last message; the newest first.",
  ),
  writing: about(queryFlag().optional(), "True: only sessions in which a message is being written."),
});

type SessionFilter = z.output<typeof listQuery>;

const listSessions = defineRoute(
  {
    id: "listSessions",
    method: "GET",
    path: "/sessions",
    tag,
    summary: "List conversations, newest or last used first",
    query: listQuery,
    reply: sessionPageSchema,
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services, caller, query, signal }) => {
    const { kernel } = services;
    const before =
      query.before === undefined ? undefined : (await requireRecord(kernel, caller, query.before)).id;
    const parent =
      query.parent === undefined ? undefined : (await requireRecord(kernel, caller, query.parent)).id;
    const sessions: SessionSummary[] = [];
    const { prefix } = query;
    const prefixes =
      prefix === undefined ? caller.prefixes : (caller.prefixes ?? [""]).map((own) => `${own}${prefix}`);
    const filter = { ...query, parent };
    const records =
      query.sort === "used"
        ? listByUse(kernel, listRecords(kernel, { prefixes }), {
            filter,
            before,
            signal,
            usage: services.usage,
          })
        : listRecords(kernel, { prefixes }, before);
    for await (const record of records) {
      signal.throwIfAborted();
      if (query.sort === "created" && !(await matchesFilter(kernel, record, filter))) continue;
      const row = await readSessionSummary(kernel, query.usage ? services : undefined, record);
      if (query.writing !== undefined && row.isWriting !== query.writing) continue;
      if (sessions.length === query.limit) {
        const last = sessions.at(-1)?.id;
        return { sessions, before: last };
      }
      sessions.push(row);
    }
    return { sessions };
  },
);

/** The gateway keeps its own facts under other names. */
const PREFIX = "api ";
const factParams = z.strictObject({ session: sessionIdSchema, name: z.string().min(1).max(200) });
const factSchema = z.object({
  session: z.string(),
  name: z.string(),
  value: about(z.unknown(), "Any JSON; null if the fact was never set or was cleared."),
});

const getFact = defineRoute(
  {
    id: "getFact",
    method: "GET",
    path: "/sessions/{session}/facts/{name}",
    tag: "Facts",
    summary: "Read a small named value of a conversation",
    params: factParams,
    reply: factSchema,
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params: { session: id, name } }) => {
    await using session = await openOwn(kernel, caller, id);
    return { session: session.id, name, value: (await session.facts.get(`${PREFIX}${name}`)) ?? null };
  },
);

const setFact = defineRoute(
  {
    id: "setFact",
    method: "POST",
    path: "/sessions/{session}/facts/{name}",
    tag: "Facts",
    summary: "Set a small named value of a conversation; it is stored apart from the log",
    params: factParams,
    body: z.strictObject({ value: about(z.unknown(), "Any JSON; null clears the fact.") }),
    reply: factSchema,
    errors: ["SESSION_NOT_FOUND", "ARGUMENT_INVALID", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params: { session: id, name }, body: { value = null } }) => {
    await using session = await openForChange(kernel, caller, id);
    await session.facts.set(`${PREFIX}${name}`, value as Json);
    return { session: session.id, name, value };
  },
);

export const FACT_ROUTES = [getFact, setFact] as const satisfies readonly ApiRoute[];

/** Yields the sessions that match, by the time of their last entry; `before` is the last one of the page before. */
async function* listByUse(
  kernel: Kernel,
  records: AsyncIterable<SessionRecord>,
  options: {
    readonly filter: SessionFilter;
    readonly before: string | undefined;
    readonly signal: AbortSignal;
    readonly usage: StoreUsage;
  },
): AsyncGenerator<SessionRecord> {
  const found: { readonly record: SessionRecord; readonly usedAt: number }[] = [];
  for await (const record of records) {
    options.signal.throwIfAborted();
    if (!(await matchesFilter(kernel, record, options.filter))) continue;
    found.push({ record, usedAt: await options.usage.readLastUse(record) });
  }
  found.sort((one, other) => other.usedAt - one.usedAt);
  const first = found.findIndex(({ record }) => record.id === options.before) + 1;
  for (const { record } of found.slice(first)) yield record;
}

async function matchesFilter(kernel: Kernel, record: SessionRecord, filter: SessionFilter): Promise<boolean> {
  const { agent, project, title, kind, parent, since } = filter;
  const own = findSessionKind(record);
  if (kind ? !kind.includes(own) : own === "memory") return false;
  if (parent !== undefined && record.parent !== parent) return false;
  const origin = findOrigin(record);
  const includes = (text: string | undefined, piece: string) =>
    text?.toLowerCase().includes(piece.toLowerCase());
  if (agent !== undefined && !origin.agent?.toLowerCase().startsWith(agent.toLowerCase())) return false;
  if (project !== undefined && !includes(origin.project, project)) return false;
  if (title !== undefined && !includes(record.title, title)) return false;
  if (since === undefined) return true;
  const { seq, at } = await kernel.head(record.id);
  return (seq > 0 ? at : record.createdAt) >= since;
}

const createSession = defineRoute(
  {
    id: "createSession",
    method: "POST",
    path: "/sessions",
    tag,
    summary: "Create a conversation",
    description: "With a token, the id gets the prefix of the person if it lacks it.",
    body: z.strictObject({
      id: about(sessionIdSchema.optional(), "A new id if absent."),
      title: titleSchema.optional(),
      meta: metaInputSchema.optional(),
    }),
    reply: sessionSchema,
    status: 201,
    errors: ["SESSION_EXISTS", "ARGUMENT_INVALID"],
  },
  async ({ services, caller, body }) => {
    const { kernel } = services;
    const { title, meta } = body;
    const id = toOwnId(caller, body.id ?? crypto.randomUUID());
    if (isMemorySession(id))
      throw new ApiError("FORBIDDEN", "Sessions of memories are made by /api/v1/memories.");
    if (await kernel.find(id))
      throw new ApiError("SESSION_EXISTS", `Session ${JSON.stringify(id)} exists already.`);
    await using session = await kernel.session(id, {
      ...dropUndefined({ title }),
      ...(meta !== undefined && { meta: meta as NonNullable<SessionRecord["meta"]> }),
    });
    return await describeSession(kernel, session, services, await session.record());
  },
);

function toOwnId(caller: ApiCaller, id: string): string {
  const { homePrefix } = caller;
  return isOwnSession([homePrefix], id) ? id : `${homePrefix}${id}`;
}

const getSession = defineRoute(
  {
    id: "getSession",
    method: "GET",
    path: "/sessions/{session}",
    tag,
    summary: "Show one conversation",
    params: sessionParams,
    query: z.strictObject({ usage: usageQuery }),
    reply: sessionSchema,
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services, caller, params, query }) => {
    const record = await requireRecord(services.kernel, caller, params.session);
    return await readSessionSummary(services.kernel, query.usage ? services : undefined, record);
  },
);

const updateSession = defineRoute(
  {
    id: "updateSession",
    method: "PATCH",
    path: "/sessions/{session}",
    tag,
    summary: "Change the title or the meta of a conversation",
    params: sessionParams,
    body: z.strictObject({
      title: titleSchema.optional(),
      meta: about(metaInputSchema.optional(), "Replaces the fields that it names; null removes a field."),
    }),
    reply: sessionSchema,
    errors: ["SESSION_NOT_FOUND", "FORBIDDEN"],
  },
  async ({ services, caller, params, body }) => {
    const { kernel } = services;
    await using session = await openForChange(kernel, caller, params.session);
    const { title, meta } = body;
    await session.update((known) => {
      const merged = Object.entries({ ...known.meta, ...meta }).filter(([, value]) => value !== null);
      return {
        ...dropUndefined({ title }),
        ...(meta !== undefined && { meta: Object.fromEntries(merged) as NonNullable<SessionRecord["meta"]> }),
      };
    });
    return await describeSession(kernel, session, services, await session.record());
  },
);

const forgetSession = defineRoute(
  {
    id: "forgetSession",
    method: "POST",
    path: "/sessions/{session}/forget",
    tag,
    summary: "Erase a conversation from disk, after a preview",
    description:
      "The first call is a preview and returns `confirm`; the second call, with it, erases the entries, their blobs and their chunks in the index. There is no undo.",
    params: sessionParams,
    body: z.strictObject({
      confirm: confirmSchema.optional(),
      recursive: about(z.boolean().default(false), "Erases children and forks too."),
    }),
    reply: z.object({
      session: z.string(),
      isForgotten: z.boolean(),
      entries: z.number().int(),
      descendants: about(
        z.array(z.string()),
        "Children and forks; without `recursive` they prevent the call.",
      ),
      confirm: z.string(),
      freed: freedSchema.nullable(),
    }),
    errors: ["SESSION_NOT_FOUND", "SESSION_HAS_CHILDREN", "PREVIEW_CHANGED", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body }) => {
    await using session = await openForChange(kernel, caller, params.session);
    const { id } = session;
    const { seq: entries } = await session.head();
    const descendants = await listDescendants(kernel, id);
    const preview = { session: id, entries, descendants, recursive: body.recursive };
    const confirm = computeConfirmation("forget", preview);
    const result = { session: id, entries, descendants, confirm };
    if (!isConfirmed(confirm, body.confirm)) return { ...result, isForgotten: false, freed: null };
    if (descendants.length > 0 && !body.recursive)
      throw new LonghaulError(
        "SESSION_HAS_CHILDREN",
        `Session ${JSON.stringify(id)} has children or forks.`,
        {
          details: { session: id },
        },
      );
    await session.close();
    return {
      ...result,
      isForgotten: true,
      freed: await kernel.deleteSession(id, { recursive: body.recursive, by: caller.id }),
    };
  },
);

async function listDescendants(kernel: Kernel, id: string): Promise<readonly string[]> {
  await using session = await kernel.session(id);
  const ids: string[] = [];
  for (const child of await session.children({ limit: 1_000 }))
    ids.push(child.id, ...(await listDescendants(kernel, child.id)));
  return ids;
}

const listChildren = defineRoute(
  {
    id: "listChildren",
    method: "GET",
    path: "/sessions/{session}/children",
    tag,
    summary: "List children and forks of a conversation, newest first",
    params: sessionParams,
    query: z.strictObject({
      limit: limitQuery(50, 200),
      before: sessionIdSchema.optional(),
      usage: usageQuery,
    }),
    reply: sessionPageSchema,
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services, caller, params, query }) => {
    const { kernel } = services;
    await using session = await openOwn(kernel, caller, params.session);
    const { limit } = query;
    const before =
      query.before === undefined ? undefined : (await requireRecord(kernel, caller, query.before)).id;
    const found = await session.children({ limit: limit + 1, ...dropUndefined({ before }) });
    const shown = found.slice(0, limit);
    const sessions: SessionSummary[] = [];
    for (const record of shown)
      sessions.push(await readSessionSummary(kernel, query.usage ? services : undefined, record));
    const last = shown.at(-1)?.id;
    return { sessions, ...(found.length > limit && last !== undefined && { before: last }) };
  },
);

export const SESSION_ROUTES = [
  listSessions,
  createSession,
  getSession,
  updateSession,
  forgetSession,
  listChildren,
] as const satisfies readonly ApiRoute[];

/** Writers of a folder of files need the command line. */
const ONE_FILE = WRITERS.filter(({ isFolder }) => !isFolder);
const NAMES = ONE_FILE.map(({ name }) => name) as [string, ...string[]];

const listExportFormats = defineRoute(
  {
    id: "listExportFormats",
    method: "GET",
    path: "/formats",
    tag: "Sessions",
    summary: "List the formats in which a conversation can be downloaded",
    reply: z.object({ formats: z.array(z.object({ name: z.string(), title: z.string() })) }),
  },
  async () => ({ formats: ONE_FILE.map(({ name, title }) => ({ name, title })) }),
);

const exportConversation = defineDownload(
  {
    id: "exportSession",
    method: "GET",
    path: "/sessions/{session}/export",
    tag: "Sessions",
    summary: "Download a conversation in another format",
    params: sessionParams,
    query: z.strictObject({ to: about(z.enum(NAMES).default("markdown"), "The format.") }),
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params, query }) => {
    const { id } = await requireRecord(kernel, caller, params.session);
    if (caller.name !== undefined && !isOwnSession([caller.homePrefix], id))
      await kernel.team.record({
        actor: caller.id,
        act: "session.export",
        target: id,
        details: { format: query.to },
      });
    const writer =
      ONE_FILE.find(({ name }) => name === query.to) ?? (ONE_FILE[0] as (typeof ONE_FILE)[number]);
    const isText = writer.name === "markdown";
    return {
      mime: isText ? "text/markdown; charset=utf-8" : "application/json; charset=utf-8",
      fileName: `${id.replace(/[^\w.-]+/g, "-").slice(-80)}.${isText ? "md" : "json"}`,
      bytes: readTexts(exportSession(kernel, id, writer)),
    };
  },
);

async function* readTexts(pieces: AsyncIterable<OutputPiece>): AsyncGenerator<string> {
  for await (const { text } of pieces) yield text;
}

export const EXPORT_ROUTES = [listExportFormats, exportConversation] as const satisfies readonly ApiRoute[];
