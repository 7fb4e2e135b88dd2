import { pickPublicMeta } from "../../conversation/public-meta.ts";
import { listOwnSessions } from "../../gateway/identity/index.ts";
import type { Kernel, SessionId, SessionRecord } from "../../index.ts";
import { choosePaint } from "../choose-paint.ts";
import { defineCommand } from "../cli-command.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { findSession } from "../find-session.ts";
import { parseSince } from "../importing/parse-since.ts";
import { openExistingStore } from "../open-store.ts";
import { createPagedPrinter } from "../paged-printer.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { printTo } from "../printer.ts";
import { quoteShellWord } from "../quote-shell-word.ts";
import { orderRows, renderSessions } from "../sessions/render-sessions.ts";
import { matchesFilter, type SessionFilter } from "../sessions/session-filter.ts";
import { readListing, writeListing } from "../sessions/session-listing.ts";
import { readSessionRow, type SessionRow } from "../sessions/session-row.ts";
import { findSessionScope, PERSON_OPTION } from "../sessions/session-scope.ts";

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
      ...(agent !== undefined && { agent }),
      ...(project !== undefined && { project }),
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
      await printTo(context.stdout, `${toSafeJson({ sessions, ...(hasMore && { before: last?.id }) })}\n`);
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
      ...(from !== undefined && { before: from }),
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
