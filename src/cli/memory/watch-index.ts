import type { Kernel } from "../../index.ts";
import { choosePaint } from "../choose-paint.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { printTo } from "../printer.ts";
import { type FileIndexResult, renderIndexReport } from "./render-index-report.ts";

/** Indexes files now and after every change until stopped, printing each run on a line. */
export async function watchIndex(
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
