import type { CliContext } from "./cli-context.ts";
import { createPagedPrinter } from "./paged-printer.ts";

/** Prints lines, through the pager if they exceed one screen. */
export async function printLines(context: CliContext, lines: readonly string[]): Promise<void> {
  const printer = createPagedPrinter(context);
  try {
    await printer.print(lines.map((line) => `${line}\n`).join(""));
  } finally {
    await printer.close();
  }
}
