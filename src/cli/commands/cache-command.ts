import {
  type CacheNow,
  type CacheReport,
  type CacheRow,
  CacheSums,
  findCacheNow,
  readCacheRows,
} from "../../server/cache/cache-report.ts";
import { CACHE_CAUSES, formatMs } from "../../server/cache/diagnose-cache.ts";
import { defineCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { findSession, listSessions } from "../find-session.ts";
import { parseSince } from "../importing/parse-since.ts";
import { openExistingStore } from "../open-store.ts";
import { getSessionScope } from "../sessions/session-scope.ts";
import { renderSizes } from "../spending/render-spending.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatCount, formatQuantity, formatShare } from "../terminal/format-count.ts";
import { formatDollars } from "../terminal/format-dollars.ts";
import { formatTime } from "../terminal/format-time.ts";
import { printResult } from "../terminal/print-lines.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { wrapText } from "../terminal/wrap-text.ts";

/** Misses of one conversation that are listed. */
const MAX_MISSES = 200;

type Look = Parameters<typeof renderTable>[2];

/** A report about all conversations, or about one with its misses and the state of its cache. */
interface CachePrintout {
  readonly report: CacheReport;
  readonly session?: string | undefined;
  readonly misses?: readonly CacheRow[] | undefined;
  readonly now?: CacheNow | undefined;
}

/** Explains the misses of providers' caches, and their price. */
export const cacheCommand = defineCommand({
  name: "cache",
  summary: "show why prompt caches were missed, by cause and dollars",
  usage: ["cache [session] [--since TIME]"],
  about:
    "Compares the tokens that each request should have read from its provider's cache with those that the provider reports. Each miss has one cause; its dollars are the price of the missed tokens above that of reading them. If a cache had expired before something else changed, the pause is the cause. Edits, pages and additions of longhaul are causes like all others. Imported conversations are judged by their usage and times alone. Without a session, all conversations of the last 30 days count.",
  options: {
    since: {
      type: "string",
      value: "TIME",
      help: "only requests since then: 12h, 30d, 6m, 2026-01-01 (default: 30d; with a session all)",
    },
  },
  maxOperands: 1,
  examples: ["longhaul cache", "longhaul cache last", "longhaul cache --since 7d --json"],
  async run(context, { operands: [wanted], options }) {
    const given = options.since ?? (wanted === undefined ? "30d" : undefined);
    const since = given === undefined ? 0 : parseSince(given, Date.now());
    await using kernel = await openExistingStore(context, options);
    const only =
      wanted === undefined ? undefined : await findSession(kernel, wanted, getSessionScope(context, options));
    const sums = new CacheSums(since);
    const misses: CacheRow[] = [];
    let last: CacheRow | undefined;
    const add = async (id: string) => {
      context.signal.throwIfAborted();
      await using session = await kernel.session(id);
      if ((await session.head()).at < since) return;
      await sums.addConversation(
        readCacheRows(session, (model) => kernel.modelFacts(model)),
        (row) => {
          if (only === undefined) return;
          if (!row.isOwnCall) last = row;
          if (row.cause !== undefined && misses.push(row) > MAX_MISSES) misses.shift();
        },
      );
    };
    if (only !== undefined) await add(only);
    else for await (const { id } of listSessions(kernel)) await add(id);
    const printout: CachePrintout = {
      report: sums.report,
      ...(only !== undefined && { session: only, misses, now: findCacheNow(last, Date.now()) }),
    };
    const look = { width: context.columns.stdout, paint: choosePaint(context, options) };
    await printResult(
      context,
      options,
      () => toJson(printout),
      () => renderCache(printout, look),
    );
    return EXIT.fine;
  },
});

function toJson({ report, session, misses, now }: CachePrintout): object {
  const listed = misses?.map(({ savings: _, acts: __, parts: ___, ...row }) => row);
  return {
    session,
    ...report,
    now: session === undefined ? undefined : (now ?? null),
    missedRequests: listed,
  };
}

const CAUSE_COLUMNS: readonly Column[] = [
  { title: "cause" },
  { title: "owner" },
  { title: "misses", align: "right" },
  { title: "tokens", align: "right" },
  { title: "dollars", align: "right" },
  { title: "of bill", align: "right" },
  { title: "mostly", shrinks: "first" },
];

const MISS_COLUMNS: readonly Column[] = [
  { title: "time" },
  { title: "cause" },
  { title: "tokens", align: "right" },
  { title: "dollars", align: "right" },
  { title: "detail", shrinks: "first" },
];

function renderCache({ report, misses, now }: CachePrintout, look: Look): readonly string[] {
  const { requests, causes, dollars, parts, sizes, ledger, unpricedRequests } = report;
  if (requests === 0) return ["No usage reported."];
  const wrap = (text: string) => wrapText(text, look.width);
  const rows = causes.map((one) => [
    one.cause,
    one.owner,
    formatCount(one.requests),
    formatCount(one.tokens),
    formatDollars(one.dollars),
    formatShare(one.dollars, dollars),
    one.detail ?? CACHE_CAUSES[one.cause].words,
  ]);
  const unpriced =
    unpricedRequests > 0 ? ` (${formatQuantity(unpricedRequests, "request")} without a known price)` : "";
  return [
    ...wrap(
      `${formatQuantity(requests, "request")} in ${formatQuantity(report.conversations, "conversation")}: ${formatCount(report.hits)} as expected, ${formatQuantity(report.misses, "miss", "misses")}, ${formatCount(report.unreported)} without a report of a cache`,
    ),
    ...wrap(
      `bill ${formatDollars(dollars)}${unpriced}: output ${formatDollars(parts.output)}, new content ${formatDollars(parts.fresh)}, cache reads ${formatDollars(parts.reads)}, misses ${formatDollars(parts.misses)}, other ${formatDollars(parts.other)}`,
    ),
    ...(now ? wrap(describeNow(now)) : []),
    ...(rows.length > 0 ? ["", ...renderTable(CAUSE_COLUMNS, rows, look)] : []),
    ...(misses && misses.length > 0 ? ["", ...renderTable(MISS_COLUMNS, misses.map(toMissRow), look)] : []),
    ...listRemedies(report).flatMap(wrap),
    ...ledger.flatMap(({ action, count, debit, credit }) =>
      wrap(
        `${action}: ${formatQuantity(count, "act")}, cost ${formatDollars(debit)}, saved ${formatDollars(credit)}, net ${formatSigned(credit - debit)}`,
      ),
    ),
    ...renderSizes(sizes).flatMap(wrap),
  ];
}

function describeNow({ isHot, leftMs, ttlMs, cachedTokens }: CacheNow): string {
  const size = `${formatCount(cachedTokens)} tokens`;
  return isHot
    ? `hot: ${size}, ${formatMs(leftMs)} left of ${formatMs(ttlMs)}`
    : `cold: ${size} must be written again`;
}

function toMissRow({
  at,
  cause,
  missedTokens,
  missDollars,
  detail,
  providerDiagnosis,
}: CacheRow): readonly string[] {
  return [
    formatTime(at),
    cause ?? "",
    formatCount(missedTokens),
    missDollars === undefined ? "?" : formatDollars(missDollars),
    providerDiagnosis ?? detail ?? (cause ? CACHE_CAUSES[cause].words : ""),
  ];
}

/** The remedies of the dearest causes. */
function listRemedies({ causes, dollars }: CacheReport): readonly string[] {
  const worth = causes.filter(
    ({ remedy, dollars: own }) => remedy !== undefined && own >= dollars * 0.01 && own > 0,
  );
  return worth.length === 0
    ? []
    : ["", ...worth.slice(0, 3).map(({ cause, remedy }) => escapeLine(`${cause}: ${remedy}`))];
}

function formatSigned(dollars: number): string {
  return dollars < 0 ? `-${formatDollars(-dollars)}` : formatDollars(dollars);
}
