import { z } from "zod";
import {
  type Entry,
  formatEntryId,
  type Hit,
  type Kernel,
  LonghaulError,
  type MemoryScope,
  parseEntryId,
  type SessionId,
  type SessionRecord,
} from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { findResumeCommand } from "../../../model/resume-command.ts";
import { getConversationId } from "../../../model/session-key.ts";
import { findOrigin } from "../../../model/session-origin.ts";
import { type ApiCaller, isAdminCaller, isVisibleTo } from "../core/api-caller.ts";
import { ApiError } from "../core/api-error.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { isMemorySession, listRecords, requireRecord } from "../core/own-sessions.ts";
import { type ApiRoute, defineRoute, type RouteCall } from "../core/route.ts";
import { requireJob, toIndexJob } from "../jobs/job-json.ts";
import { limitQuery, sessionIdSchema, timeSchema } from "../schemas/common-schemas.ts";
import { jobSchema } from "../schemas/job-schemas.ts";
import { expansionSchema, recallReplySchema } from "../schemas/memory-schemas.ts";
import { queryFlag, queryList, queryNumber } from "../schemas/query-values.ts";

const tag = "Recall";
const MAX_QUESTION = 20_000;
/** Maximum time for indexing new entries before the search. */
const WAIT_MS = 2_000;
const NO_DEPTH = "Has no effect: every recall is as thorough. Accepted for older clients.";
const MAX_SCOPED_SESSIONS = 10_000;

interface RecallRequest {
  readonly question: string;
  readonly k: number;
  readonly sessions?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly agent?: string | undefined;
  readonly project?: string | undefined;
  readonly activeLine: boolean;
  readonly rewound: boolean;
  readonly details: boolean;
}

const recallByQuery = defineRoute(
  {
    id: "recall",
    method: "GET",
    path: "/recall",
    tag,
    summary: "Search everything that was ever said",
    description: "Hits cite entries; GET /expand shows the entries around one.",
    query: z.strictObject({
      q: about(z.string().trim().min(1).max(MAX_QUESTION), "The question."),
      k: about(queryNumber(1, 100).default(10), "Maximum number of hits."),
      depth: about(z.enum(["quick", "careful"]).optional(), NO_DEPTH),
      session: about(queryList(sessionIdSchema).optional(), "Only these sessions."),
      exclude: about(
        queryList(sessionIdSchema).optional(),
        "Sessions to leave out, such as the running one.",
      ),
      agent: about(z.string().optional(), "Only conversations of this agent."),
      project: about(z.string().optional(), "Only conversations of this project."),
      activeLine: about(queryFlag().default(false), "True: leaves out entries of other branches too."),
      rewound: about(queryFlag().default(false), "True: finds messages that were taken back too."),
      details: about(
        queryFlag().default(true),
        "Adds title, agent, project, best sentence and files to each hit.",
      ),
    }),
    reply: recallReplySchema,
    errors: ["SESSION_NOT_FOUND"],
  },
  async (call) => {
    const { q, session, ...rest } = call.query;
    return recall(call, { ...rest, question: q, sessions: session });
  },
);

const recallByBody = defineRoute(
  {
    id: "recallLong",
    method: "POST",
    path: "/recall",
    tag,
    summary: "Search with a question that is too long for a URL",
    body: z.strictObject({
      question: z.string().trim().min(1).max(MAX_QUESTION),
      k: z.number().int().min(1).max(100).default(10),
      depth: about(z.enum(["quick", "careful"]).optional(), NO_DEPTH),
      sessions: z.array(sessionIdSchema).optional(),
      exclude: z.array(sessionIdSchema).optional(),
      agent: z.string().optional(),
      project: z.string().optional(),
      activeLine: z.boolean().default(false),
      rewound: z.boolean().default(false),
      details: z.boolean().default(true),
    }),
    reply: recallReplySchema,
    errors: ["SESSION_NOT_FOUND"],
  },
  async (call) => recall(call, call.body),
);

async function recall(call: RouteCall, request: RecallRequest) {
  const { services, caller, signal } = call;
  const { question, k, activeLine, rewound, details } = request;
  const scope = await buildScope(call, request);
  if (scope?.sessions?.length === 0) return { question, hits: [], certainty: 0, isSure: false };
  const found = await services.kernel.memory.recall(question, {
    k,
    activeLine,
    rewound,
    details,
    signal,
    waitMs: WAIT_MS,
    ...dropUndefined({ scope }),
  });
  // The scope has left out everything else; this holds if it ever does not.
  const hits = found.hits.filter((hit) =>
    hit.kind === "session" ? isSearchable(caller, hit.session) : isAdminCaller(caller),
  );
  const { fix, ...facts } = found;
  return {
    question,
    ...facts,
    ...(fix && isSearchable(caller, fix.session) && { fix }),
    hits: details ? await addResumeCommands(services.kernel, hits) : hits,
  };
}

async function addResumeCommands(
  kernel: Kernel,
  hits: readonly Hit[],
): Promise<readonly (Hit & { resume?: string })[]> {
  const ids = new Set(hits.flatMap((hit) => (hit.kind === "session" ? [hit.session] : [])));
  const commands = new Map<string, string>();
  for (const id of ids) {
    const record = await kernel.find(id);
    const command = record && findResumeCommand(record);
    if (command !== undefined) commands.set(id, command);
  }
  return hits.map((hit) => {
    const resume = hit.kind === "session" ? commands.get(hit.session) : undefined;
    return resume === undefined ? hit : { ...hit, resume };
  });
}

/** A person with a token finds own conversations and own memories. */
function isSearchable(caller: ApiCaller, session: string): boolean {
  return isVisibleTo(caller, session) || session === `memory:${caller.memoryAgent}`;
}

/** True if a session is one of these, or a sub-agent of one. */
async function isWithin(
  kernel: Pick<Kernel, "find">,
  record: SessionRecord,
  ids: readonly SessionId[],
): Promise<boolean> {
  for (let at: SessionRecord | undefined = record; at; ) {
    if (ids.includes(at.id) || ids.includes(getConversationId(at.id))) return true;
    at = at.relation === "child" && at.parent !== undefined ? await kernel.find(at.parent) : undefined;
  }
  return false;
}

async function buildScope(
  { services, caller }: RouteCall,
  request: RecallRequest,
): Promise<MemoryScope | undefined> {
  const { sessions, exclude, agent, project } = request;
  const { kernel } = services;
  const { prefixes } = caller;
  const bounds = prefixes && { owners: [...prefixes, `memory:${caller.memoryAgent}`] };
  const isFiltered = exclude !== undefined || agent !== undefined || project !== undefined;
  if (sessions !== undefined) {
    const ids: string[] = [];
    for (const id of sessions) ids.push((await requireRecord(kernel, caller, id)).id);
    return { sessions: ids, ...bounds };
  }
  if (!isFiltered) return prefixes && { prefixes, agents: [caller.memoryAgent], ...bounds };
  const ids: string[] = [];
  for await (const record of listRecords(kernel, caller)) {
    const origin = findOrigin(record);
    if (exclude && (await isWithin(kernel, record, exclude))) continue;
    if (agent !== undefined && origin.agent !== agent) continue;
    if (project !== undefined && origin.project !== project) continue;
    ids.push(record.id);
    if (ids.length === MAX_SCOPED_SESSIONS) break;
  }
  return { sessions: ids, ...bounds };
}

const expand = defineRoute(
  {
    id: "expand",
    method: "GET",
    path: "/expand",
    tag,
    summary: "Show an entry with its neighbors, or the messages behind a summary",
    description:
      "For a message, the messages around it. For a summary or another edit of the window, the messages that left the window with it, page by page.",
    query: z.strictObject({
      entry: about(z.string().min(1).max(512), "Id of an entry, as a hit cites it."),
      around: about(queryNumber(0, 100).default(2), "Number of messages before and after."),
      skip: about(queryNumber(0).default(0), "Messages of a summary to skip."),
      limit: limitQuery(50, 500),
    }),
    reply: expansionSchema,
    errors: ["ENTRY_NOT_FOUND", "ARGUMENT_INVALID"],
  },
  async ({ services: { kernel }, caller, query: { entry: id, around, skip, limit } }) => {
    const place = parseEntryId(id);
    const record = await findPlace(caller, place.session, (session) => kernel.find(session));
    const head = record && (await kernel.head(record.id));
    if (!record || !head || place.seq > head.seq)
      throw new LonghaulError("ENTRY_NOT_FOUND", `There is no entry ${JSON.stringify(id.slice(0, 200))}.`, {
        details: { id },
      });
    const entry = formatEntryId(record.id, place.seq);
    await using session = await kernel.session(record.id);
    const own = await session.entry(place.seq);
    if (own?.kind !== "overlay")
      return { entry, entries: await kernel.memory.expand(entry, { around }), next: null };
    const entries: Entry[] = [];
    let index = 0;
    for await (const one of session.expand(place.seq)) {
      if (index++ < skip) continue;
      if (entries.length === limit) return { entry, entries, next: skip + limit };
      entries.push(one);
    }
    return { entry, entries, next: null };
  },
);

/** A session that the person may see, by its id with or without the person's prefix. */
async function findPlace<Found>(
  caller: ApiCaller,
  id: string,
  find: (id: string) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  if (isSearchable(caller, id)) return find(id);
  if (isMemorySession(id)) return undefined;
  for (const prefix of caller.prefixes ?? []) {
    const found = `${prefix}${id}`.length <= 256 ? await find(`${prefix}${id}`) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

export const RECALL_ROUTES = [recallByQuery, recallByBody, expand] as const satisfies readonly ApiRoute[];

const indexStateSchema = defineSchema(
  "IndexState",
  z.object({
    sources: z.number().int(),
    chunks: z.number().int(),
    entries: about(z.number().int(), "Entries of all conversations."),
    unindexed: about(z.number().int(), "Entries that recall does not find yet."),
    unembedded: about(
      z.number().int(),
      "Chunks without a vector, about; while there are many, recall goes by words alone.",
    ),
    hasVectors: about(z.boolean(), "False without an embedder: recall goes by words alone."),
  }),
  "The size of the index, and the work that it lacks.",
);

const unindexedSchema = defineSchema(
  "UnindexedSession",
  z.object({
    session: z.string(),
    entries: z.number().int(),
    indexed: about(z.number().int(), "Last indexed seq; 0 if the conversation is not in the index."),
  }),
  "A conversation with entries that recall does not find yet.",
);

const sourceSchema = defineSchema(
  "IndexSource",
  z.object({
    kind: z.enum(["session", "file"]),
    name: about(z.string(), "Id of the conversation, or path of the file."),
    title: about(z.string().optional(), "Title of the conversation."),
    cursor: about(z.number().int(), "Last indexed seq of a conversation; 1 for a file."),
    chunks: z.number().int(),
    root: about(z.string().optional(), "The folder whose indexing found the file."),
    sizeBytes: z.number().optional(),
    modifiedMs: timeSchema.optional(),
    number: about(z.number().int(), "Value of `after` for the sources behind this one."),
  }),
  "A conversation or a file in the index.",
);

function checkLocal({ caller }: RouteCall): void {
  if (isAdminCaller(caller)) return;
  throw new ApiError("FORBIDDEN", "Only the person who runs the gateway sees the index of the whole store.");
}

const getIndex = defineRoute(
  {
    id: "getIndex",
    method: "GET",
    path: "/index",
    tag: "Index",
    summary: "Show the size of the index, the work that it lacks, and the run in progress",
    reply: z.object({
      ...indexStateSchema.shape,
      job: about(jobSchema.nullable(), "The current run, or the last one."),
    }),
    errors: ["FORBIDDEN"],
  },
  async (call) => {
    checkLocal(call);
    const { kernel, indexRun } = call.services;
    return { ...(await kernel.memory.state()), job: toIndexJob(indexRun) ?? null };
  },
);

const listIndexSources = defineRoute(
  {
    id: "listIndexSources",
    method: "GET",
    path: "/index/sources",
    tag: "Index",
    summary: "List the conversations and files in the index, in the order in which they came into it",
    query: z.strictObject({
      kind: z.enum(["session", "file"]).optional(),
      after: about(queryNumber(0).default(0), "Only sources behind the one with this number."),
      limit: limitQuery(100, 999),
    }),
    reply: z.object({
      sources: z.array(sourceSchema),
      after: about(z.number().int().nullable(), "Value of `after` for the next page; null on the last one."),
    }),
    errors: ["FORBIDDEN"],
  },
  async (call) => {
    checkLocal(call);
    const { kind, after, limit } = call.query;
    const found = await call.services.kernel.memory.sources({
      ...dropUndefined({ kind }),
      after,
      limit: limit + 1,
    });
    const { kernel } = call.services;
    const sources = await Promise.all(
      found.slice(0, limit).map(async (source) => ({
        ...source,
        title: source.kind === "session" ? (await kernel.find(source.name))?.title : undefined,
      })),
    );
    return { sources, after: found.length > limit ? (sources.at(-1)?.number ?? null) : null };
  },
);

const listUnindexed = defineRoute(
  {
    id: "listUnindexed",
    method: "GET",
    path: "/index/unindexed",
    tag: "Index",
    summary: "List the conversations with entries that recall does not find yet",
    query: z.strictObject({
      after: about(queryNumber(0).default(0), "Value of `after` of the page before."),
      limit: limitQuery(100, 999),
    }),
    reply: z.object({
      sessions: z.array(unindexedSchema),
      after: about(z.number().int().nullable(), "Value of `after` for the next page; null on the last one."),
    }),
    errors: ["FORBIDDEN"],
  },
  async (call) => {
    checkLocal(call);
    return call.services.kernel.memory.unindexed(call.query);
  },
);

const startIndexing = defineRoute(
  {
    id: "startIndexing",
    method: "POST",
    path: "/index",
    tag: "Index",
    summary: "Bring the index up to the end of all conversations",
    description:
      "Recall does this by itself, within the time that it waits. One run at a time; if one is running, its job is returned.",
    body: z.strictObject({}),
    reply: jobSchema,
    status: 202,
    errors: ["FORBIDDEN"],
  },
  async (call) => {
    checkLocal(call);
    const { indexRun } = call.services;
    indexRun.start();
    return requireJob(toIndexJob(indexRun), "index");
  },
);

export const INDEX_ROUTES = [
  getIndex,
  listIndexSources,
  listUnindexed,
  startIndexing,
] as const satisfies readonly ApiRoute[];
