import type { Head, Kernel, SessionRecord } from "../../index.ts";
import { choosePaint } from "../choose-paint.ts";
import { defineCommand } from "../cli-command.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { findSession } from "../find-session.ts";
import { formatCount } from "../format-count.ts";
import { formatAgo } from "../format-time.ts";
import { groupFamilies } from "../group-families.ts";
import { openExistingStore } from "../open-store.ts";
import { createPagedPrinter } from "../paged-printer.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { printTo } from "../printer.ts";
import { quoteShellWord } from "../quote-shell-word.ts";
import { type Column, renderTable } from "../table.ts";

const LIMIT = { otherwise: 50, max: 1_000 };
const COLUMNS: readonly Column[] = [
  { title: "session", look: "cyan", shrinks: "last" },
  { title: "title", shrinks: "first" },
  { title: "last entry" },
  { title: "entries", align: "right" },
];

/** Lists the sessions of a store. */
export const sessionsCommand = defineCommand({
  name: "sessions",
  summary: "list the conversations in the store, newest first",
  usage: ["sessions [options]"],
  options: {
    limit: { type: "string", value: "N", help: `maximum sessions to list (default: ${LIMIT.otherwise})` },
    before: { type: "string", value: "SESSION", help: "only sessions that are older than this one" },
  },
  maxOperands: 0,
  examples: [
    "longhaul sessions",
    "longhaul sessions --limit 10 --before ticket-4711",
    "longhaul sessions --json",
  ],
  async run(context, { options }) {
    const limit = parseCountOption("limit", options.limit, LIMIT);
    await using kernel = await openExistingStore(context, options);
    const before = options.before === undefined ? {} : { before: await findSession(kernel, options.before) };
    const records = await kernel.sessions({ limit, ...before });
    const heads = new Map<string, Head>();
    for (const { id } of records) heads.set(id, await readHead(kernel, id));
    const last = records.at(-1);
    const hasMore = last !== undefined && (await kernel.sessions({ limit: 1, before: last.id })).length > 0;
    if (options.json) {
      const sessions = records.map((record) => toSessionJson(record, heads.get(record.id)));
      await printTo(context.stdout, `${toSafeJson({ sessions, ...(hasMore && { before: last.id }) })}\n`);
      return EXIT.fine;
    }
    const lines = renderSessions(records, heads, {
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

async function readHead(kernel: Kernel, id: string): Promise<Head> {
  await using session = await kernel.session(id);
  return session.head();
}

function toSessionJson(
  { id, title, parent, relation, createdAt, meta }: SessionRecord,
  head: Head | undefined,
) {
  return {
    id,
    title,
    parent,
    relation,
    createdAt,
    entries: head?.seq ?? 0,
    lastEntryAt: head?.at || undefined,
    meta,
  };
}

function renderSessions(
  records: readonly SessionRecord[],
  heads: ReadonlyMap<string, Head>,
  options: Parameters<typeof renderTable>[2],
): readonly string[] {
  if (records.length === 0) return ["No sessions."];
  const now = Date.now();
  const rows = groupFamilies(records).map(({ session, depth }) => {
    const head = heads.get(session.id);
    const indent = "  ".repeat(depth);
    const mark = session.relation === "fork" ? "⑂ " : session.relation === "child" ? "└ " : "";
    const lastAt = head && head.seq > 0 ? head.at : session.createdAt;
    return [
      session.id,
      `${indent}${mark}${session.title ?? ""}`,
      formatAgo(lastAt, now),
      formatCount(head?.seq ?? 0),
    ];
  });
  return renderTable(COLUMNS, rows, options);
}
