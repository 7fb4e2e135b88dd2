import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Kernel, LonghaulError } from "../../index.ts";
import { choosePaint } from "../choose-paint.ts";
import { type CommonValues, defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { formatCount, formatQuantity } from "../format-count.ts";
import { catchUpIndex } from "../memory/catch-up-index.ts";
import { type FileIndexResult, renderIndexReport } from "../memory/render-index-report.ts";
import { watchIndex } from "../memory/watch-index.ts";
import { openExistingStore, openStore } from "../open-store.ts";
import { printTo } from "../printer.ts";
import { StatusLine } from "../status-line.ts";
import { UsageError } from "../usage-error.ts";

/** Indexes files for recall. */
export const indexCommand = defineCommand({
  name: "index",
  summary: "index files and folders for recall",
  usage: ["index <path>… [options]", "index"],
  about:
    "Skips files that .gitignore or .longhaulignore exclude, symbolic links and files that contain keys. Unchanged files are not read again; deleted files leave the index. Interrupted with Ctrl-C, it resumes on the next run. Without a path, it indexes the conversations of the store, which recall also does by itself.",
  options: { watch: { type: "boolean", help: "keep indexing changed files until Ctrl-C" } },
  maxOperands: Number.POSITIVE_INFINITY,
  examples: ["longhaul index src docs", "longhaul index . --watch", "longhaul index notes --json"],
  async run(context, { operands, options }) {
    const paths = operands.map((path) => resolve(context.cwd, path));
    if (options.watch && paths.length === 0) throw new UsageError("--watch needs a path");
    for (const path of paths) if (!existsSync(path)) throw createNotFoundError(path);
    await using kernel = await (paths.length === 0 ? openExistingStore : openStore)(context, options);
    if (paths.length === 0) return await indexConversations(kernel, context, options);
    if (options.watch) return await watchIndex(kernel, context, options, paths);
    const indexed = await indexPaths(kernel, context, options, paths);
    if (options.json) await printTo(context.stdout, `${toSafeJson({ paths, ...indexed })}\n`);
    else {
      const lines = renderIndexReport(indexed, choosePaint(context, options));
      await printTo(
        context.stdout,
        `${(options.quiet ? lines.slice(1) : lines).map((line) => `${line}\n`).join("")}`,
      );
    }
    return indexed.skipped.some(({ reason }) => reason === "unreadable") ? EXIT.incomplete : EXIT.fine;
  },
});

async function indexPaths(
  kernel: Kernel,
  context: CliContext,
  options: CommonValues,
  paths: readonly string[],
): Promise<FileIndexResult> {
  const status = new StatusLine(context, options);
  const startedAt = performance.now();
  try {
    return await kernel.memory.indexFiles(paths, {
      signal: context.signal,
      onProgress: ({ files, path }) =>
        status.update(() => {
          const seconds = Math.max(0.001, (performance.now() - startedAt) / 1_000);
          return `Indexing: ${formatCount(files)} files, ${formatCount(Math.round(files / seconds))} per second  ${path}`;
        }),
    });
  } finally {
    status.clear();
  }
}

async function indexConversations(
  kernel: Kernel,
  context: CliContext,
  options: CommonValues,
): Promise<number> {
  const { entries, chunks } = await catchUpIndex(kernel, context, options);
  const words = `${formatQuantity(entries, "entry", "entries")} indexed (${formatQuantity(chunks, "chunk")}).`;
  if (options.json) await printTo(context.stdout, `${toSafeJson({ entries, chunks })}\n`);
  else if (!options.quiet) await printTo(context.stdout, `${words}\n`);
  return EXIT.fine;
}

function createNotFoundError(path: string): LonghaulError {
  return new LonghaulError("SOURCE_UNREADABLE", `There is no file or folder at ${path}.`, {
    details: { path },
  });
}
