import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isLonghaulError, type Kernel, LonghaulError } from "../../kernel/index.ts";
import { type CommonValues, defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { INDEX_PHASES, type IndexCounts, indexWithBar } from "../memory/index-phases.ts";
import { openExistingStore, openStore } from "../open-store.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { formatCount, formatQuantity } from "../terminal/format-count.ts";
import type { Paint } from "../terminal/paint.ts";
import { PhaseBar, StatusLine } from "../terminal/phase-bar.ts";
import { printDone, printJson } from "../terminal/print-lines.ts";
import { printTo } from "../terminal/printer.ts";
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
    if (options.json) await printJson(context, { paths, ...indexed });
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
  await printDone(
    context,
    options,
    () => ({ entries, chunks }),
    () => [words],
  );
  return EXIT.fine;
}

function createNotFoundError(path: string): LonghaulError {
  return new LonghaulError("SOURCE_UNREADABLE", `There is no file or folder at ${path}.`, {
    details: { path },
  });
}

/** Indexes files now and after every change until stopped, printing each run on a line. */
async function watchIndex(
  kernel: Kernel,
  context: CliContext,
  options: CommonValues,
  paths: readonly string[],
): Promise<number> {
  const { signal, stdout, stderr } = context;
  const paint = choosePaint(context, options);
  let exitCode: number = EXIT.fine;
  let printing: Promise<void> = Promise.resolve();
  const print = (text: string) => {
    printing = printing.then(() => printTo(stdout, `${text}\n`, signal));
    printing.catch(() => undefined);
  };
  const onIndexed = (indexed: FileIndexResult) => {
    const isNews = indexed.changed > 0 || indexed.removed > 0;
    if (options.json) print(toSafeJson({ type: "indexed", ...indexed }));
    else if (isNews && !options.quiet) print(renderIndexReport(indexed, paint).join("\n"));
  };
  const onError = (error: unknown) => {
    exitCode = EXIT.incomplete;
    const message = error instanceof Error ? error.message : String(error);
    if (options.json) print(toSafeJson({ type: "problem", message }));
    stderr.write(`longhaul: ${escapeLine(message)}\n`);
  };
  const watching = kernel.memory.watchFiles(paths, { onIndexed, onError });
  try {
    await new Promise<void>((resolve) => {
      if (signal.aborted) return resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  } finally {
    await watching.close();
  }
  if (options.json) print(toSafeJson({ type: "stopped" }));
  await printing;
  return exitCode;
}

/** Result of indexing files. */
type FileIndexResult = Awaited<ReturnType<Kernel["memory"]["indexFiles"]>>;

const SHOWN = 20;

/** Formats the result of indexing: counts, then skipped files with reasons. */
function renderIndexReport(
  { files, changed, removed, chunks, skipped }: FileIndexResult,
  paint: Paint,
): readonly string[] {
  const unchanged = files - changed - skipped.length;
  const facts = [
    `${formatQuantity(changed, "file")} indexed (${formatQuantity(chunks, "chunk")})`,
    `${unchanged} unchanged`,
    ...(removed > 0 ? [`${removed} removed`] : []),
    ...(skipped.length > 0 ? [`${skipped.length} skipped`] : []),
  ];
  const shown = skipped
    .slice(0, SHOWN)
    .map(({ path, reason }) => paint("dim", `  skipped, ${reason}: ${escapeLine(path)}`));
  const more = skipped.length - SHOWN;
  return [`${facts.join(", ")}.`, ...shown, ...(more > 0 ? [paint("dim", `  … and ${more} more`)] : [])];
}

/** Indexes all conversations to their ends and shows the progress; Ctrl-C stops it and keeps finished work. */
async function catchUpIndex(
  kernel: Kernel,
  context: CliContext,
  options: CommonValues,
): Promise<IndexCounts> {
  const bar = new PhaseBar(context, options, INDEX_PHASES);
  try {
    return await indexWithBar(kernel, bar, context.signal);
  } finally {
    bar.clear();
  }
}

/** Indexes conversations for at most `waitMs`; the rest is indexed by a later call. */
export async function catchUpIndexFor(
  waitMs: number,
  kernel: Kernel,
  context: CliContext,
  options: CommonValues,
): Promise<void> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(waitMs)]);
  try {
    await catchUpIndex(kernel, { ...context, signal }, options);
  } catch (error) {
    if (context.signal.aborted || !isLonghaulError(error, "ABORTED")) throw error;
  }
}
