import type { Context } from "./context.ts";
import { pagedPrinter } from "./pager.ts";

/** Prints lines, through the pager if they exceed one screen. */
export async function printLines(context: Context, lines: readonly string[]): Promise<void> {
  const printer = pagedPrinter(context);
  try {
    await printer.print(lines.map((line) => `${line}\n`).join(""));
  } finally {
    await printer.close();
  }
}
