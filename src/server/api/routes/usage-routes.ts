import { z } from "zod";
import {
  addReport,
  EMPTY_LEDGER,
  type ListedOverlay,
  type ModelFactsLookup,
  RECENT_REQUESTS,
  readRetries,
} from "../../../kernel/faces/window.ts";
import type { Session, SessionRecord } from "../../../kernel/index.ts";
import { buildControlReport } from "../../../kernel/usage/control-report.ts";
import { getRequestKey, readUsageEntries } from "../../../kernel/usage/request-usage.ts";
import {
  computeSavedShare,
  type SessionEstimate,
  sumEstimates,
} from "../../../kernel/usage/savings-estimates.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { mapPersonNames } from "../../../model/session-key.ts";
import { computeCacheShare, sumPromptTokens } from "../../../model/usage.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { listRecords, openOwn, requireRecord } from "../core/own-sessions.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import {
  limitQuery,
  seqSchema,
  sessionIdSchema,
  sessionParams,
  timeSchema,
} from "../schemas/common-schemas.ts";
import { queryNumber } from "../schemas/query-values.ts";
import { comparisonSchema } from "../schemas/receipt-schemas.ts";
import {
  controlReportSchema,
  estimateReportSchema,
  GROUPING_NAMES,
  requestUsageSchema,
  usageReportSchema,
} from "../schemas/usage-schemas.ts";

/** One request of a curve. */
interface RequestPoint {
  readonly seq: number;
  readonly at: number;
  readonly tokens: number;
  readonly cacheShare: number | null;
  readonly cost: number | null;
}

const tag = "Usage";
const daySchema = z.iso.date("expected a day as 2026-11-15");

const getUsage = defineRoute(
  {
    id: "getUsage",
    method: "GET",
    path: "/usage",
    tag,
    summary: "Sum tokens and money over conversations",
    description:
      "Counts the usage that providers reported, also on abandoned lines. If a report names no cost, the prices of its model apply. Days are in UTC.",
    query: z.strictObject({
      by: about(
        z.enum(GROUPING_NAMES).default("day"),
        "One row per day, model, session, project, agent or person.",
      ),
      from: about(daySchema.optional(), "First day."),
      to: about(daySchema.optional(), "Last day."),
      session: about(sessionIdSchema.optional(), "Only this session."),
      agent: about(
        z.string().optional(),
        'Only conversations of this agent; "(unknown)" for those without one.',
      ),
      project: about(z.string().optional(), "Only conversations of this project."),
      model: about(z.string().optional(), "Only requests of this model."),
    }),
    reply: usageReportSchema,
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel, usage, estimates }, caller, query, signal }) => {
    const { by, from, to, agent, project, model } = query;
    const records =
      query.session === undefined
        ? listRecords(kernel, caller)
        : yieldOne(await requireRecord(kernel, caller, query.session));
    const { rows, total, savings, sizes, sessions, subAgents } = await usage.report(records, {
      ...{ by, from, to, agent, project, model, signal },
      findSavable: async (session) => {
        const known = await estimates.find(session);
        return known ? computeSavedShare(known) : null;
      },
      names: mapPersonNames(by === "person" ? await kernel.team.people() : []),
    });
    return {
      by,
      rows: rows.map(({ name, title, totals: own, saved, wouldSave }) => ({
        name,
        title,
        totals: own,
        cacheShare: computeCacheShare(own),
        wouldSave,
        saved: saved && { savedCost: saved.savedCost, withoutCost: saved.withoutCost },
      })),
      total,
      cacheShare: computeCacheShare(total),
      ...{ sessions, subAgents },
      savings,
      sizes: sizes && [...sizes],
    };
  },
);

const getControl = defineRoute(
  {
    id: "getControl",
    method: "GET",
    path: "/usage/control",
    tag,
    summary: "Compare edited conversations with the control group",
    description:
      "Measured per agent and model, with bootstrap intervals. There are groups only if `control` is set in the configuration.",
    query: z.strictObject({
      since: about(queryNumber(0).optional(), "Only conversations that began since this time."),
    }),
    reply: controlReportSchema,
  },
  async ({ services: { kernel }, caller, query: { since }, signal }) => {
    const records = listRecords(kernel, caller);
    const report = await buildControlReport(kernel, { records, signal, ...dropUndefined({ since }) });
    const groups = report.groups.map(({ agent = null, model = null, figures, ...group }) => ({
      agent,
      model,
      ...group,
      figures: [...figures],
    }));
    return { ...report, groups };
  },
);

const getEstimate = defineRoute(
  {
    id: "getEstimate",
    method: "GET",
    path: "/usage/estimate",
    tag,
    summary: "Show what recorded conversations would have cost under the default policy",
    description:
      "Conversations are replayed in the background, once for each state; ask again while `isRunning`. The sums are those of `longhaul replay --all`.",
    reply: estimateReportSchema,
  },
  async ({ services: { kernel, estimates, onError }, caller, signal }) => {
    estimates.start(onError);
    const found: SessionEstimate[] = [];
    let pending = 0;
    for await (const { id } of listRecords(kernel, caller)) {
      signal.throwIfAborted();
      const known = await estimates.find(id);
      if (known) found.push(known);
      else if (known === undefined) pending++;
    }
    const { sizes, ...sums } = sumEstimates(found);
    const isRunning = estimates.isRunning;
    return {
      basis: "replayed" as const,
      ...sums,
      sizes: [...sizes],
      pending: isRunning ? pending : 0,
      skipped: isRunning ? 0 : pending,
      isRunning,
    };
  },
);

async function* yieldOne(record: SessionRecord): AsyncGenerator<SessionRecord> {
  yield record;
}

const listRequests = defineRoute(
  {
    id: "listRequests",
    method: "GET",
    path: "/sessions/{session}/usage",
    tag,
    summary: "List the usage reports of a conversation, oldest first",
    description: "The sizes of the window and its cached share over the conversation, for a chart.",
    params: sessionParams,
    query: z.strictObject({
      after: about(queryNumber(0).default(0), "Only reports after this seq."),
      limit: limitQuery(1_000, 10_000),
    }),
    reply: z.object({
      session: z.string(),
      requests: z.array(requestUsageSchema),
      after: about(z.number().int().nullable(), "Value of `after` for the next page; null on the last one."),
    }),
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params, query: { after, limit }, signal }) => {
    await using session = await openOwn(kernel, caller, params.session);
    const requests: z.output<typeof requestUsageSchema>[] = [];
    for await (const entry of readUsageEntries(session, after + 1)) {
      signal.throwIfAborted();
      const last = requests.at(-1)?.seq;
      if (requests.length === limit && last !== undefined)
        return { session: session.id, requests, after: last };
      const { seq, at, model, request } = entry;
      const report = addReport(EMPTY_LEDGER, { at, body: entry }, (id) => kernel.modelFacts(id));
      const totals = report.session;
      requests.push({
        seq,
        at,
        model,
        request,
        promptTokens: sumPromptTokens(totals),
        cacheShare: computeCacheShare(totals),
        totals,
        retries: readRetries(entry),
      });
    }
    return { session: session.id, requests, after: null };
  },
);

export const USAGE_ROUTES = [
  getUsage,
  getEstimate,
  getControl,
  listRequests,
] as const satisfies readonly ApiRoute[];

const curveEditSchema = defineSchema(
  "CurveEdit",
  z.object({
    overlay: z.string(),
    seq: seqSchema,
    at: timeSchema,
    point: about(
      z.number().int(),
      "Index of the first point after the edit; the number of points if there is none yet.",
    ),
    type: z.enum(["replace", "hide", "summarize", "plan", "revert"]),
    author: z.string(),
    reason: z.string(),
    isHolding: about(z.boolean(), "True while the overlay is in effect."),
    tokens: about(comparisonSchema.nullable(), "Null if nobody measured them."),
    thisCall: about(
      comparisonSchema.nullable(),
      "US dollars for the prompt of the call; null without prices.",
    ),
    nextCalls: about(comparisonSchema.nullable(), "US dollars for the prompt of each following call."),
    breakEvenCalls: about(
      z.number().nullable(),
      "Calls until it has paid for itself; null if never or unknown.",
    ),
    leftEntries: about(z.number().int().nullable(), "Messages that left the window; null if unknown."),
  }),
  "An edit of the window on its curve.",
);

const curveSchema = defineSchema(
  "Curve",
  z.object({
    session: z.string(),
    requests: about(z.number().int(), "Number of requests with reported usage."),
    stretch: about(z.number().int(), "Requests that one point stands for; it shows the largest of them."),
    seqs: about(z.array(z.number().int()), "Seqs of the reports, ascending; the lists are parallel."),
    times: z.array(timeSchema),
    tokens: about(z.array(z.number()), "Sizes of the prompts."),
    cacheShares: z.array(z.number().nullable()),
    costs: about(z.array(z.number().nullable()), "US dollars of the requests; null if the price is unknown."),
    edits: about(z.array(curveEditSchema), "Oldest first."),
  }),
  "The size of the window and its cached share over a conversation, with the edits.",
);

const MAX_POINTS = 100_000;
const USUAL_POINTS = 20_000;
const MAX_EDITS = 10_000;

const getCurve = defineRoute(
  {
    id: "getCurve",
    method: "GET",
    path: "/sessions/{session}/curve",
    tag: "Window",
    summary: "Show the size of the window and its cached share over a conversation, with every edit",
    description:
      "For a chart: parallel lists with one point per request, and the edits with the main figures of their receipts. GET /sessions/{session}/receipts/{overlay} returns a whole receipt. The newest 10,000 edits are returned.",
    params: sessionParams,
    query: z.strictObject({
      points: about(
        queryNumber(100, MAX_POINTS).default(USUAL_POINTS),
        "Maximum number of points; of a longer conversation the largest window of each stretch is returned.",
      ),
    }),
    reply: curveSchema,
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params, query, signal }) => {
    await using session = await openOwn(kernel, caller, params.session);
    const all = await readRequestPoints(session, (id) => kernel.modelFacts(id), signal);
    const { points, stretch } = thinPoints(all, query.points);
    const overlays = await session.overlays.list(MAX_EDITS);
    return {
      session: session.id,
      requests: all.length,
      stretch,
      seqs: points.map(({ seq }) => seq),
      times: points.map(({ at }) => at),
      tokens: points.map(({ tokens }) => tokens),
      cacheShares: points.map(({ cacheShare }) => cacheShare),
      costs: points.map(({ cost }) => cost),
      edits: placeEdits(overlays.toReversed(), points),
    };
  },
);

export const CURVE_ROUTES = [getCurve] as const satisfies readonly ApiRoute[];

/** Reads the requests of a session in the order of its log; a late report replaces an earlier one of its request. */
async function readRequestPoints(
  session: Session,
  factsOf: ModelFactsLookup,
  signal: AbortSignal,
): Promise<readonly RequestPoint[]> {
  const points: RequestPoint[] = [];
  const recent = new Map<string, number>();
  for await (const entry of readUsageEntries(session)) {
    signal.throwIfAborted();
    const { session: totals } = addReport(EMPTY_LEDGER, { at: entry.at, body: entry }, factsOf);
    const key = getRequestKey(entry);
    const known = recent.get(key);
    const index = known ?? points.length;
    points[index] = {
      seq: points[index]?.seq ?? entry.seq,
      at: entry.at,
      tokens: sumPromptTokens(totals),
      cacheShare: computeCacheShare(totals),
      cost: totals.unpricedRequests > 0 ? null : totals.cost,
    };
    recent.delete(key);
    recent.set(key, index);
    const [oldest] = recent.keys();
    if (oldest !== undefined && recent.size > RECENT_REQUESTS) recent.delete(oldest);
  }
  return points;
}

/** Thins points to at most `max`: the largest window of each stretch stays. */
function thinPoints(
  points: readonly RequestPoint[],
  max: number,
): { readonly points: readonly RequestPoint[]; readonly stretch: number } {
  const stretch = Math.max(1, Math.ceil(points.length / max));
  if (stretch === 1) return { points, stretch };
  const kept: RequestPoint[] = [];
  for (let from = 0; from < points.length; from += stretch)
    kept.push(
      points.slice(from, from + stretch).reduce((most, one) => (one.tokens > most.tokens ? one : most)),
    );
  return { points: kept, stretch };
}

/** Places edits on a curve; both lists are in the order of the log. */
function placeEdits(edits: readonly ListedOverlay[], points: readonly Pick<RequestPoint, "seq">[]) {
  let point = 0;
  return edits.map(({ entry, isHolding }) => {
    while (point < points.length && (points[point] as RequestPoint).seq < entry.seq) point++;
    const { receipt, summary, tokensBefore, tokensAfter } = entry;
    const measured =
      tokensBefore !== undefined && tokensAfter !== undefined
        ? { without: tokensBefore, with: tokensAfter }
        : null;
    return {
      overlay: entry.id,
      seq: entry.seq,
      at: entry.madeAt ?? entry.at,
      point,
      type: entry.edit.type,
      author: entry.author,
      reason: entry.reason,
      isHolding,
      tokens: receipt?.tokens ?? measured,
      thisCall: receipt?.thisCall ?? null,
      nextCalls: receipt?.nextCalls ?? null,
      breakEvenCalls: receipt?.breakEvenCalls ?? null,
      leftEntries: (receipt ?? summary)?.left.entries ?? null,
    };
  });
}
