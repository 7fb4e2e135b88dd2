import { z } from "zod";
import {
  buildCacheReport,
  type CacheRow,
  CacheSums,
  findCacheNow,
  readCacheRows,
} from "../../cache/cache-report.ts";
import { CACHE_CAUSES, type CacheCause } from "../../cache/diagnose-cache.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { listRecords, openOwn } from "../core/own-sessions.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import { sessionParams, timeSchema } from "../schemas/common-schemas.ts";
import { queryNumber } from "../schemas/query-values.ts";
import { sizeSumSchema } from "../schemas/usage-schemas.ts";

const CAUSES = Object.keys(CACHE_CAUSES) as [CacheCause, ...CacheCause[]];
const OWNERS = ["pause", "client", "longhaul", "provider", "nobody"] as const;
const MONTH_MS = 30 * 86_400_000;
const MAX_MISSES = 1_000;
const tag = "Usage";

const cacheReportSchema = defineSchema(
  "CacheReport",
  z.object({
    since: timeSchema,
    conversations: z.number().int(),
    requests: z.number().int(),
    hits: about(z.number().int(), "Requests that read what was expected, and first ones."),
    misses: z.number().int(),
    unreported: about(z.number().int(), "Requests of which the provider said nothing about a cache."),
    unpricedRequests: z.number().int(),
    dollars: about(z.number(), "The bill of the requests whose price is known."),
    parts: about(
      z.object({
        output: z.number(),
        reads: z.number(),
        fresh: about(z.number(), "New content."),
        misses: about(z.number(), "Price of missed tokens above that of reading them."),
        other: z.number(),
      }),
      "The bill by what was paid for; the sum is the bill.",
    ),
    causes: about(
      z.array(
        z.object({
          cause: z.enum(CAUSES),
          owner: about(z.enum(OWNERS), "Whoever can avoid it."),
          requests: z.number().int(),
          tokens: z.number(),
          dollars: z.number(),
          detail: z.string().optional(),
          detailDollars: z.number(),
          remedy: z.string().optional(),
        }),
      ),
      "Dearest first.",
    ),
    sizes: z.array(sizeSumSchema),
    ledger: about(
      z.array(
        z.object({
          action: z.enum(["ttl", "keep-alive"]),
          count: z.number().int(),
          debit: z.number(),
          credit: z.number(),
        }),
      ),
      "Cost and savings of longhaul's own actions on caches, in US dollars.",
    ),
  }),
  "Why providers' caches were missed.",
);

const missSchema = defineSchema(
  "CacheMiss",
  z.object({
    seq: z.number().int(),
    at: timeSchema,
    model: z.string().optional(),
    cause: z.enum(CAUSES),
    owner: z.enum(OWNERS),
    words: z.string(),
    detail: z.string().optional(),
    remedy: z.string().optional(),
    expectedTokens: z.number(),
    readTokens: z.number(),
    missedTokens: z.number(),
    dollars: about(z.number().nullable(), "Null if the price is unknown."),
    pauseMs: z.number().optional(),
    also: about(z.array(z.enum(CAUSES)), "Other changes in the same request."),
    providerDiagnosis: about(z.string().optional(), "The provider's own words."),
  }),
  "A request that did not read the tokens that were cached for it.",
);

const getCacheReport = defineRoute(
  {
    id: "getCacheReport",
    method: "GET",
    path: "/usage/cache",
    tag,
    summary: "Show why prompt caches were missed, by cause and dollars",
    description:
      "Each miss has one cause. Imported conversations are judged by their usage and times alone. Reads the usage of all conversations since the given time.",
    query: z.strictObject({
      since: about(queryNumber(0).optional(), "Only requests since this time; default: the last 30 days."),
    }),
    reply: cacheReportSchema,
  },
  async ({ services: { kernel }, caller, query: { since = Date.now() - MONTH_MS }, signal }) =>
    buildCacheReport(kernel, listRecords(kernel, caller), { since, signal }),
);

const getSessionCache = defineRoute(
  {
    id: "getSessionCache",
    method: "GET",
    path: "/sessions/{session}/cache",
    tag: "Window",
    summary: "Show the state of a conversation's cache and each miss with its cause",
    params: sessionParams,
    reply: z.object({
      session: z.string(),
      now: about(
        z
          .object({
            isHot: z.boolean(),
            leftMs: about(z.number(), "Time until the cache expires; 0 if it has."),
            ttlMs: z.number(),
            cachedTokens: z.number(),
          })
          .nullable(),
        "Null if the provider says nothing about a cache.",
      ),
      report: cacheReportSchema,
      misses: about(z.array(missSchema), "Newest first, at most 1,000."),
    }),
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params, signal }) => {
    await using session = await openOwn(kernel, caller, params.session);
    const sums = new CacheSums();
    const misses: CacheRow[] = [];
    let last: CacheRow | undefined;
    await sums.addConversation(
      readCacheRows(session, (model) => kernel.modelFacts(model)),
      (row) => {
        signal.throwIfAborted();
        if (!row.isOwnCall) last = row;
        if (row.cause !== undefined && misses.push(row) > MAX_MISSES) misses.shift();
      },
    );
    const now = findCacheNow(last, Date.now()) ?? null;
    return { session: session.id, now, report: sums.report, misses: misses.toReversed().flatMap(toMiss) };
  },
);

function toMiss(row: CacheRow): readonly z.output<typeof missSchema>[] {
  const { seq, at, model, cause, detail, expectedTokens, readTokens, missedTokens, pauseMs, also = [] } = row;
  if (cause === undefined) return [];
  const { owner, words, remedy } = CACHE_CAUSES[cause];
  return [
    {
      ...{ seq, at, model, cause, owner, words, detail, remedy },
      ...{ expectedTokens, readTokens, missedTokens, pauseMs },
      dollars: row.missDollars ?? null,
      also: [...also],
      providerDiagnosis: row.providerDiagnosis,
    },
  ];
}

export const CACHE_ROUTES = [getCacheReport, getSessionCache] as const satisfies readonly ApiRoute[];
