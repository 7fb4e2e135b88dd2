import { choosePaint } from "../choose-paint.ts";
import { defineCommand } from "../cli-command.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { formatAgo } from "../format-time.ts";
import { openExistingStore } from "../open-store.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { printLines } from "../print-lines.ts";
import { printTo } from "../printer.ts";
import { type Column, renderTable } from "../table.ts";

const LIMIT = { otherwise: 50, max: 10_000 };
const COLUMNS: readonly Column[] = [
  { title: "memory", look: "cyan" },
  { title: "by" },
  { title: "when" },
  { title: "pin" },
  { title: "text", shrinks: "first" },
];

/** Lists an agent's memories. */
export const memoriesCommand = defineCommand({
  name: "memories",
  summary: "list the memories of an agent, newest first",
  usage: ["memories [options]"],
  options: {
    agent: { type: "string", value: "NAME", help: 'agent that owns the memories (default: "default")' },
    limit: { type: "string", value: "N", help: `maximum memories to list (default: ${LIMIT.otherwise})` },
  },
  maxOperands: 0,
  examples: ["longhaul memories", "longhaul memories --agent support --json"],
  async run(context, { options }) {
    const limit = parseCountOption("limit", options.limit, LIMIT);
    await using kernel = await openExistingStore(context, options);
    const memories = kernel.memories(options.agent);
    const pins = new Set((await memories.pins()).map(({ id }) => id));
    const listed = (await memories.list({ limit })).map((one) => ({ ...one, isPinned: pins.has(one.id) }));
    if (options.json) {
      await printTo(context.stdout, `${toSafeJson({ agent: memories.agent, memories: listed })}\n`);
      return EXIT.fine;
    }
    const now = Date.now();
    const rows = listed.map(({ id, by, at, text, isPinned }) => [
      id,
      by,
      formatAgo(at, now),
      isPinned ? "pin" : "",
      text,
    ]);
    const width = context.columns.stdout;
    const lines =
      rows.length > 0
        ? renderTable(COLUMNS, rows, { width, paint: choosePaint(context, options) })
        : [`${escapeLine(memories.agent)} has no memories.`];
    await printLines(context, lines);
    return EXIT.fine;
  },
});
