import { resolve } from "node:path";
import { FORMATS, findEncryptedHistories, findSourcePlaces } from "../../histories/index.ts";
import { defineCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { findNamed } from "../find-named.ts";
import { choosePlaces } from "../importing/choose-places.ts";
import { importOnce } from "../importing/import-once.ts";
import { parseSince } from "../importing/parse-since.ts";
import { watchImports } from "../importing/watch-imports.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { UsageError } from "../usage-error.ts";

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
      ...(formats && { formats }),
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
      isIndexed: options["no-index"] !== true,
    });
  },
});
