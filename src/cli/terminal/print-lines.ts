import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { toSafeJson } from "./escape.ts";
import { createPagedPrinter } from "./paged-printer.ts";
import { printTo } from "./printer.ts";

/** Prints the result of a command: JSON with `--json`, else lines. */
export async function printResult(
  context: CliContext,
  options: CommonValues,
  toJson: () => unknown,
  toLines: () => readonly string[],
): Promise<void> {
  if (options.json) await printJson(context, toJson());
  else await printLines(context, toLines());
}

/** Prints the success of a command: JSON with `--json`, nothing with `--quiet`, else lines. */
export async function printDone(
  context: CliContext,
  options: CommonValues,
  toJson: () => unknown,
  toLines: () => readonly string[],
): Promise<void> {
  if (options.json || !options.quiet) await printResult(context, options, toJson, toLines);
}

/** Prints one line of JSON. */
export async function printJson(context: CliContext, value: unknown): Promise<void> {
  await printTo(context.stdout, `${toSafeJson(value)}\n`);
}

/** Prints lines, through the pager if they exceed one screen. */
export async function printLines(context: CliContext, lines: readonly string[]): Promise<void> {
  const printer = createPagedPrinter(context);
  try {
    await printer.print(lines.map((line) => `${line}\n`).join(""));
  } finally {
    await printer.close();
  }
}
