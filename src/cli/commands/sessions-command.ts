import { pickPublicMeta } from "../../kernel/calls/project-conversations.ts";
import type { ModelFactsLookup, Totals } from "../../kernel/faces/window.ts";
import type { Kernel, SessionId, SessionRecord } from "../../kernel/index.ts";
import { readRequestUsage } from "../../kernel/usage/request-usage.ts";
import { UsageSums } from "../../kernel/usage/usage-sums.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { findOrigin, type SessionOrigin } from "../../model/session-origin.ts";
import { listOwnSessions } from "../../server/gateway/identity/index.ts";
import { defineCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { findSession } from "../find-session.ts";
import { parseSince } from "../importing/parse-since.ts";
import { openExistingStore } from "../open-store.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { readListing, writeListing } from "../sessions/session-listing.ts";
import { findSessionScope, PERSON_OPTION } from "../sessions/session-scope.ts";
import { formatCost } from "../spending/render-spending.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatCount } from "../terminal/format-count.ts";
import { formatAge } from "../terminal/format-time.ts";
import { createPagedPrinter } from "../terminal/paged-printer.ts";
import { printJson } from "../terminal/print-lines.ts";
import { quoteShellWord } from "../terminal/quote-shell-word.ts";
import { type Column, renderTable } from "../terminal/table.ts";

const LIMIT = { otherwise: 50, max: 1_000 };
const PAGE = 1_000;

/** Lists the sessions of a store. */
export const sessionsCommand = defineCommand({
  name: "sessions",
  summary: "list the conversations in the store, newest first",
  usage: ["sessions [--agent NAME] [--project NAME] [--since TIME] [options]"],
  about:
    'Every command accepts the number of a session in place of its id, until the next listing: "longhaul show 3". The word "last" names the session that was used last.',
  options: {
    agent: { type: "string", value: "NAME", help: "only conversations of this agent, such as claude-code" },
    project: {
      type: "string",
      value: "NAME",
      help: "only conversations of this project, or a piece of its name",
    },
    since: {
      type: "string",
      value: "TIME",
      help: "only conversations that were used since then: 12h, 30d, 6m, 2026-01-01",
    },
    limit: { type: "string", value: "N", help: `maximum sessions to list (default: ${LIMIT.otherwise})` },
    before: { type: "string", value: "SESSION", help: "only sessions that are older than this one" },
    ...PERSON_OPTION,
  },
  maxOperands: 0,
  examples: [
    "longhaul sessions",
    "longhaul sessions --agent codex --since 7d",
    "longhaul sessions --limit 10 --before ticket-4711",
    "longhaul sessions --json",
  ],
  async run(context, { options }) {
    const limit = parseCountOption("limit", options.limit, LIMIT);
    const { agent, project, since } = options;
    const filter: SessionFilter = {
      ...dropUndefined({ agent, project }),
      ...(since !== undefined && { since: parseSince(since, Date.now()) }),
    };
    await using kernel = await openExistingStore(context, options);
    const scope = await findSessionScope(kernel, context, options);
    const before =
      options.before === undefined ? undefined : await findSession(kernel, options.before, scope);
    const found = await findRecords(kernel, { prefixes: scope.prefixes, before, limit: limit + 1, filter });
    const hasMore = found.length > limit;
    const records = found.slice(0, limit);
    const rows: SessionRow[] = [];
    for (const record of records)
      rows.push(await readSessionRow(kernel, record, (model) => kernel.modelFacts(model)));
    const ordered = orderRows(rows);
    const ids = ordered.map(({ record }) => record.id);
    const earlier = before === undefined ? [] : await readEarlier(scope.store, before, ids);
    await writeListing(scope.store, [...earlier, ...ids]);
    const last = records.at(-1);
    if (options.json) {
      const sessions = ordered.map((row, index) => toSessionJson(row, earlier.length + index + 1));
      await printJson(context, { sessions, ...(hasMore && { before: last?.id }) });
      return EXIT.fine;
    }
    const lines = renderSessions(ordered, earlier.length + 1, {
      width: context.columns.stdout,
      paint: choosePaint(context, options),
    });
    const hint = `older: longhaul sessions --before ${escapeLine(quoteShellWord(last?.id ?? ""))}`;
    const printer = createPagedPrinter(context);
    try {
      await printer.print(lines.map((line) => `${line}\n`).join(""));
      if (hasMore && !options.quiet) await printer.print(`${hint}\n`);
    } finally {
      await printer.close();
    }
    return EXIT.fine;
  },
});

/** Finds the newest sessions that pass the filter, reading page by page. */
async function findRecords(
  kernel: Kernel,
  {
    prefixes,
    before,
    limit,
    filter,
  }: {
    readonly prefixes: readonly string[] | undefined;
    readonly before: SessionId | undefined;
    readonly limit: number;
    readonly filter: SessionFilter;
  },
): Promise<readonly SessionRecord[]> {
  const found: SessionRecord[] = [];
  for (let from = before; ; ) {
    const page = await listOwnSessions(kernel, prefixes, {
      limit: Math.min(PAGE, Object.keys(filter).length === 0 ? limit : PAGE),
      ...dropUndefined({ before: from }),
    });
    for (const record of page) {
      if (found.length === limit) return found;
      if (await matchesFilter(kernel, record, filter)) found.push(record);
    }
    from = page.at(-1)?.id;
    if (found.length >= limit || from === undefined) return found;
  }
}

/** A page that continues the last listing keeps the numbers of its sessions. */
async function readEarlier(
  store: string,
  before: SessionId,
  ids: readonly SessionId[],
): Promise<readonly SessionId[]> {
  const listed = await readListing(store);
  if (!listed.includes(before)) return [];
  const again = listed.findIndex((id) => ids.includes(id));
  return again === -1 ? listed : listed.slice(0, again);
}

function toSessionJson(
  { record, agent, project, model, totals, entries, usedAt }: SessionRow,
  number: number,
) {
  const { id, title, parent, relation, createdAt, meta } = record;
  return {
    number,
    id,
    title,
    parent,
    relation,
    agent,
    project,
    model,
    cost: totals.cost,
    requests: totals.requests,
    unpricedRequests: totals.unpricedRequests,
    createdAt,
    entries,
    lastEntryAt: entries > 0 ? usedAt : undefined,
    meta: pickPublicMeta(meta),
  };
}

/** Conditions for sessions; all must hold. */
interface SessionFilter {
  /** Beginning of the agent's name; upper and lower case are equal. */
  readonly agent?: string;
  /** A piece of the project's name. */
  readonly project?: string;
  /** Only sessions with an entry since this time. */
  readonly since?: number;
}

/** Decides whether a session passes; reads its last entry only if the time matters. */
async function matchesFilter(
  kernel: Kernel,
  record: SessionRecord,
  { agent, project, since }: SessionFilter,
): Promise<boolean> {
  const origin = findOrigin(record);
  if (agent !== undefined && !origin.agent?.toLowerCase().startsWith(agent.toLowerCase())) return false;
  if (project !== undefined && !origin.project?.toLowerCase().includes(project.toLowerCase())) return false;
  if (since === undefined) return true;
  await using session = await kernel.session(record.id);
  const { seq, at } = await session.head();
  return (seq > 0 ? at : record.createdAt) >= since;
}

/** From this width on, the table has room for ids and counts. */
const WIDE_COLUMNS = 120;

const COLUMNS: readonly Column[] = [
  { title: "#", align: "right", look: "dim" },
  { title: "title", shrinks: "first" },
  { title: "agent" },
  { title: "project", shrinks: "last" },
  { title: "model", shrinks: "last" },
  { title: "cost", align: "right" },
  { title: "used", align: "right" },
];
const WIDE: readonly Column[] = [
  ...COLUMNS,
  { title: "entries", align: "right" },
  { title: "session", look: "cyan" },
];

/** Orders rows for the listing: each child right below its parent. */
function orderRows(rows: readonly SessionRow[]): readonly (SessionRow & { readonly depth: number })[] {
  const byId = new Map(rows.map((row) => [row.record.id, row]));
  return groupFamilies(rows.map(({ record }) => record)).flatMap(({ session, depth }) => {
    const row = byId.get(session.id);
    return row ? [{ ...row, depth }] : [];
  });
}

/** Formats the listing as a table; `first` is the number of its first session. */
function renderSessions(
  rows: readonly (SessionRow & { readonly depth: number })[],
  first: number,
  options: Parameters<typeof renderTable>[2],
): readonly string[] {
  if (rows.length === 0) return ["No sessions."];
  const now = Date.now();
  const isWide = options.width >= WIDE_COLUMNS;
  const cells = rows.map(({ record, depth, agent, project, model, totals, usedAt, entries }, index) => {
    const mark = record.relation === "fork" ? "⑂ " : record.relation === "child" ? "└ " : "";
    return [
      String(first + index),
      `${"  ".repeat(depth)}${mark}${record.title ?? record.id}`,
      agent ?? "",
      project ?? "",
      model === undefined ? "" : isWide ? model : shortenModel(model),
      totals.requests > 0 ? formatCost(totals) : "",
      formatAge(usedAt, now),
      ...(isWide ? [formatCount(entries), record.id] : []),
    ];
  });
  return renderTable(isWide ? WIDE : COLUMNS, cells, options);
}

/** Drops the vendor, the family name "claude" and the date of a model id. */
function shortenModel(model: string): string {
  return model
    .replace(/^.*\//, "")
    .replace(/^claude-/, "")
    .replace(/-(?:20)\d{6}$/, "");
}

/** A session in a list that nests children under parents. */
interface FamilyMember {
  readonly session: SessionRecord;
  /** Number of its ancestors in the list. */
  readonly depth: number;
}

/** Orders sessions as given, with each child right below its parent if both are in the list. */
function groupFamilies(sessions: readonly SessionRecord[]): readonly FamilyMember[] {
  const ids = new Set(sessions.map(({ id }) => id));
  const children = Map.groupBy(sessions, ({ parent }) =>
    parent !== undefined && ids.has(parent) ? parent : undefined,
  );
  const below = (parent: string | undefined, depth: number): readonly FamilyMember[] =>
    (children.get(parent) ?? []).flatMap((session) => [{ session, depth }, ...below(session.id, depth + 1)]);
  return below(undefined, 0);
}

/** A session as the listing shows it. */
interface SessionRow extends SessionOrigin {
  readonly record: SessionRecord;
  readonly entries: number;
  /** Time of the last entry, else of the creation. */
  readonly usedAt: number;
  readonly model?: string;
  readonly totals: Totals;
}

/** Reads the last model and the cost of a session. */
async function readSessionRow(
  kernel: Kernel,
  record: SessionRecord,
  factsOf: ModelFactsLookup,
): Promise<SessionRow> {
  await using session = await kernel.session(record.id);
  const { seq, at } = await session.head();
  const { model } = await session.lastCall();
  const sums = new UsageSums();
  for await (const spent of readRequestUsage(session, factsOf)) sums.add(spent);
  return {
    record,
    ...findOrigin(record),
    entries: seq,
    usedAt: seq > 0 ? at : record.createdAt,
    ...dropUndefined({ model }),
    totals: sums.total,
  };
}
