import type { Entry, Kernel } from "../../index.ts";
import { choosePaint } from "../choose-paint.ts";
import { defineCommand, type ParsedArguments } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { formatEntryExcerpt } from "../context/format-entry-excerpt.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { formatQuantity } from "../format-count.ts";
import { catchUpIndexFor } from "../memory/catch-up-index.ts";
import { buildMemoryFilter } from "../memory/parse-memory-options.ts";
import { buildRecallScope } from "../memory/recall-scope.ts";
import { type RecalledHit, type RecallResult, renderHit } from "../memory/render-hit.ts";
import { openExistingStore } from "../open-store.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { printLines } from "../print-lines.ts";
import { printTo } from "../printer.ts";
import { PERSON_OPTION } from "../sessions/session-scope.ts";
import { UsageError } from "../usage-error.ts";

const LIMIT = { otherwise: 10, max: 1_000 };
const WAIT = { otherwise: 10, max: 86_400 };
const EXCERPT_LINES = 4;

const OPTIONS = {
  limit: { type: "string", short: "k", value: "N", help: `maximum hits (default: ${LIMIT.otherwise})` },
  session: {
    type: "string",
    multiple: true,
    value: "SESSION",
    help: "search only this session; repeatable",
  },
  prefix: {
    type: "string",
    value: "WORDS",
    help: "search only sessions whose id begins with these characters",
  },
  agent: { type: "string", value: "NAME", help: "search only the memories of this agent" },
  path: {
    type: "string",
    multiple: true,
    value: "PATH",
    help: "search only this file or folder; repeatable",
  },
  trust: {
    type: "string",
    value: "LEVEL",
    help: "find only memories with this trust or more: user, agent, quoted, rejected (default: quoted)",
  },
  outdated: { type: "boolean", help: "find memories outside their dates too" },
  active: { type: "boolean", help: "leave out messages that were rewound, replaced or removed" },
  wait: {
    type: "string",
    value: "SECONDS",
    help: `maximum time to index new entries first (default: ${WAIT.otherwise})`,
  },
  careful: { type: "boolean", help: "also read the best hits with the question; takes a second longer" },
  expand: { type: "boolean", help: "print hits in full, with the entries around them" },
  ...PERSON_OPTION,
} as const;

type RecallValues = ParsedArguments<typeof OPTIONS>["options"];

/** Searches sessions, memories and indexed files. */
export const recallCommand = defineCommand({
  name: "recall",
  summary: "search conversations and indexed files",
  usage: ["recall <question> [options]"],
  about:
    "Ask in plain words; there is no query syntax. New entries are indexed first, for at most --wait seconds. If sessions and paths are both given, both are searched.",
  options: OPTIONS,
  maxOperands: Number.POSITIVE_INFINITY,
  examples: [
    'longhaul recall "which port does the staging server use?"',
    "longhaul recall retry policy --prefix claude-code/ -k 3 --expand",
    'longhaul recall "where are tokens validated" --path src --json',
  ],
  async run(context, { operands, options }) {
    const question = operands.join(" ").trim();
    if (question === "") throw new UsageError("the question is missing: longhaul recall <question>");
    const k = parseCountOption("limit", options.limit, LIMIT);
    const memories = buildMemoryFilter(options.trust, options.outdated === true);
    const warnings: string[] = [];
    const onWarning = (warning: string) => void warnings.push(warning);
    await using kernel = await openExistingStore(context, options, { onWarning });
    const scope = await buildRecallScope(kernel, context, options);
    const waitMs = 1_000 * parseCountOption("wait", options.wait, WAIT);
    await catchUpIndexFor(waitMs, kernel, context, options);
    const { signal } = context;
    const search = {
      k,
      signal,
      depth: options.careful ? ("careful" as const) : ("quick" as const),
      waitMs: 0,
      memories,
      activeLine: options.active === true,
      ...(scope && { scope }),
    };
    const recalled = await kernel.memory.recall(question, search);
    const around = options.expand ? await readSurroundings(kernel, recalled.hits) : [];
    for (const warning of warnings) context.stderr.write(`longhaul: ${escapeLine(warning)}\n`);
    if (options.json) {
      const hits = recalled.hits.map((hit, index) => ({
        ...hit,
        ...(around[index] && { around: around[index] }),
      }));
      await printTo(context.stdout, `${toSafeJson({ question, ...recalled, hits })}\n`);
    } else {
      const lines = renderHits(context, options, recalled, around);
      const { withoutReading } = recalled;
      const isTold = warnings.some((warning) => warning.endsWith(withoutReading ?? ""));
      if (withoutReading !== undefined && !isTold && !options.quiet)
        lines.push(`Not read carefully: ${escapeLine(withoutReading)}.`);
      await printLines(context, lines);
    }
    return EXIT.fine;
  },
});

async function readSurroundings(
  kernel: Kernel,
  hits: readonly RecalledHit[],
): Promise<readonly (readonly Entry[])[]> {
  const around: (readonly Entry[])[] = [];
  for (const hit of hits) around.push(hit.kind === "session" ? await kernel.memory.expand(hit.entry) : []);
  return around;
}

function renderHits(
  context: CliContext,
  options: RecallValues,
  { hits, isSure, withoutVectors, unindexed }: RecallResult,
  around: readonly (readonly Entry[])[],
): string[] {
  const paint = choosePaint(context, options);
  const columns = context.columns.stdout;
  const now = Date.now();
  const lines = hits.flatMap((hit, index) => [
    ...renderHit(hit, {
      number: index + 1,
      now,
      paint,
      columns,
      ...(!options.expand && { lines: EXCERPT_LINES }),
    }),
    ...(around[index] ?? [])
      .filter((entry) => hit.kind === "session" && entry.id !== hit.entry)
      .map((entry) =>
        paint("dim", `    ${escapeLine(`#${entry.seq}`)} ${formatEntryExcerpt(entry, columns - 16)}`),
      ),
  ]);
  if (hits.length === 0) lines.push("Nothing found.");
  if (unindexed !== undefined)
    lines.push(
      paint(
        "yellow",
        `At least ${formatQuantity(unindexed, "entry is", "entries are")} not indexed yet; allow more time with --wait, or run "longhaul index" to index them all.`,
      ),
    );
  if (options.quiet) return lines;
  if (hits.length > 0 && !isSure)
    lines.push(paint("yellow", "Low confidence: the hits match little of the question."));
  if (withoutVectors !== undefined)
    lines.push(paint("dim", escapeLine(`Keyword search only: ${withoutVectors}`)));
  return lines;
}
