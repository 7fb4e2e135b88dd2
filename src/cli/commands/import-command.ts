import { resolve } from "node:path";
import {
  FORMATS,
  findEncryptedHistories,
  findSourcePlaces,
  type ImportOptions,
  type WatchEvent,
  watchSources,
} from "../../histories/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { type CommonValues, defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { findNamed } from "../find-named.ts";
import { choosePlaces } from "../importing/choose-places.ts";
import { importOnce } from "../importing/import-once.ts";
import { parseSince } from "../importing/parse-since.ts";
import { formatProblem } from "../importing/render-import-report.ts";
import { openStore } from "../open-store.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { formatDuration, formatTime } from "../terminal/format-time.ts";
import type { Paint } from "../terminal/paint.ts";
import { printTo } from "../terminal/printer.ts";
import { fitText } from "../terminal/width.ts";
import { UsageError } from "../usage-error.ts";

const MAX_COMMAND_COLUMNS = 60;

/** Imports the conversations of other agents. */
export const importCommand = defineCommand({
  name: "import",
  summary: "import conversations from other agents",
  usage: ["import [path…] [options]"],
  about:
    "Without a path, it searches the folders where agents keep their conversations and asks before it imports them.",
  options: {
    "dry-run": { type: "boolean", help: "read and report everything, write nothing" },
    since: {
      type: "string",
      value: "TIME",
      help: "only conversations that changed since then: 12h, 30d, 6m, 2026-01-01",
    },
    format: { type: "string", multiple: true, value: "NAME", help: "only these formats, comma-separated" },
    forgotten: { type: "boolean", help: "also conversations that were deleted here" },
    "no-index": { type: "boolean", help: "do not build the index; the next recall does" },
    watch: { type: "boolean", help: "keep importing new messages until Ctrl-C" },
    yes: {
      type: "boolean",
      short: "y",
      help: "without a path: import all conversations found, without asking",
    },
  },
  maxOperands: Number.POSITIVE_INFINITY,
  examples: [
    "longhaul import",
    "longhaul import --yes --since 30d --format claude-code,codex",
    "longhaul import backup/sessions --dry-run",
    "longhaul import --yes --watch --json",
  ],
  async run(context, { operands, options }) {
    const isDryRun = options["dry-run"] === true;
    if (options.watch && isDryRun) throw new UsageError("--watch and --dry-run cannot be combined");
    const names = options.format?.flatMap((words) => words.split(","));
    const formats = names?.map((name) => findNamed("format", name.trim(), FORMATS));
    const choice = {
      signal: context.signal,
      withForgotten: options.forgotten === true,
      ...dropUndefined({ formats }),
      ...(options.since !== undefined && { since: parseSince(options.since, Date.now()) }),
    };
    const { home, platform, env } = context;
    for (const { title, path, files, reason } of await findEncryptedHistories({ home, platform, env }))
      if (!options.quiet && !options.json)
        context.stderr.write(
          `longhaul: ${title} has ${formatQuantity(files, "file")} in ${escapeLine(path)}, which cannot be imported: ${reason}.\n`,
        );
    const named = operands.map((path) => resolve(context.cwd, path));
    const isAgreed = options.yes === true || isDryRun;
    if (options.watch && named.length === 0 && isAgreed) {
      // Agents that are installed later are watched too.
      const findPaths = async () =>
        (await findSourcePlaces({ home, platform, env }))
          .filter(({ format }) => !formats || formats.includes(format))
          .map(({ path }) => path);
      return watchImports(context, options, async () => [...new Set(await findPaths())], choice);
    }
    const paths = named.length > 0 ? named : await choosePlaces(context, options, choice, { isAgreed });
    if (paths.length === 0) return EXIT.fine;
    if (options.watch) return watchImports(context, options, paths, choice);
    return importOnce(context, options, paths, {
      ...choice,
      dryRun: isDryRun,
      isAgreed: options.yes === true,
      isIndexed: options["no-index"] !== true,
    });
  },
});

/** Imports existing and new conversations until stopped, printing each event on a line. */
async function watchImports(
  context: CliContext,
  options: CommonValues,
  paths: readonly string[] | (() => Promise<readonly string[]>),
  choice: Pick<ImportOptions, "formats" | "since" | "signal" | "withForgotten">,
): Promise<number> {
  // Started by the gateway, it ends with the gateway, even with one that was killed.
  if (process.channel) process.once("disconnect", () => process.exit());
  const paint = choosePaint(context, options);
  const print = (text: string) => printTo(context.stdout, `${text}\n`, context.signal);
  const sessions = new Set<string>();
  let messages = 0;
  let exitCode: number = EXIT.fine;
  await using kernel = await openStore(context, options);
  for await (const event of watchSources(kernel, paths, {
    ...choice,
    withOriginals: true,
    // While it watches, nobody is there to be asked.
    mayImportTree: async () => false,
    system: { home: context.home, platform: context.platform, env: context.env },
  })) {
    if (event.type === "imported") {
      sessions.add(event.report.session);
      messages += event.report.added.messages;
    }
    if (isProblemEvent(event) && event.type !== "stalled") exitCode = EXIT.incomplete;
    if (options.json) await print(toSafeJson(event));
    else if (!options.quiet || isProblemEvent(event)) await print(formatWatchEvent(event, Date.now(), paint));
  }
  const conversations = sessions.size;
  const summary = `${formatQuantity(messages, "message")} of ${formatQuantity(conversations, "conversation")} imported`;
  if (options.json) await print(toSafeJson({ type: "stopped", conversations, messages }));
  else if (!options.quiet) await print(`Stopped: ${summary}.`);
  return exitCode;
}

/** Formats a watch event on one line. */
function formatWatchEvent(event: WatchEvent, now: number, paint: Paint): string {
  return `${paint("dim", formatTime(now))} ${describeEvent(event, paint)}`;
}

function describeEvent(event: WatchEvent, paint: Paint): string {
  switch (event.type) {
    case "imported": {
      const { session, added, status, error } = event.report;
      if (status === "failed") return `${paint("red", "failed")} ${escapeLine(`${session}: ${error ?? ""}`)}`;
      const news = [formatQuantity(added.messages, "message"), formatQuantity(added.toolCalls, "tool call")];
      return `${paint("green", "imported")} ${escapeLine(session)}: ${news.join(", ")}`;
    }
    case "problem":
      return formatProblem(event.problem, paint);
    case "stalled": {
      const { source, idleMs, process } = event;
      const command = fitText(escapeLine(process.command.replaceAll("\0", " ")), MAX_COMMAND_COLUMNS);
      const what = `no new entries for ${formatDuration(idleMs)} although its agent is running (${command}, pid ${process.pid})`;
      return `${paint("yellow", "stalled")} ${escapeLine(source.path)}: ${what}; it may now write to another file`;
    }
    case "resumed":
      return `${paint("green", "resumed")} ${escapeLine(event.source.path)}`;
    case "idle":
      return paint("dim", "up to date, watching");
  }
}

/** Tells whether an event reports a problem. */
function isProblemEvent(event: WatchEvent): boolean {
  if (event.type === "imported") return event.report.status === "failed";
  return event.type === "problem" || event.type === "stalled";
}
