import { z } from "zod";
import { isAdminCaller } from "../core/api-caller.ts";
import { ApiError } from "../core/api-error.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { type ApiRoute, defineRoute, type RouteCall } from "../core/route.ts";
import { requireJob, toIndexJob } from "../jobs/job-json.ts";
import { limitQuery, timeSchema } from "../schemas/common-schemas.ts";
import { jobSchema } from "../schemas/job-schemas.ts";
import { queryNumber } from "../schemas/query-values.ts";

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

const tag = "Index";

function checkLocal({ caller }: RouteCall): void {
  if (isAdminCaller(caller)) return;
  throw new ApiError("FORBIDDEN", "Only the person who runs the gateway sees the index of the whole store.");
}

const getIndex = defineRoute(
  {
    id: "getIndex",
    method: "GET",
    path: "/index",
    tag,
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
    tag,
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
      ...(kind !== undefined && { kind }),
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
    tag,
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
    tag,
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
