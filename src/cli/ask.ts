import { createInterface } from "node:readline";
import type { Context } from "./context.ts";

/** Asks on the terminal; anything but a clear yes is a no, also the end of the input and Ctrl-C. */
export async function askYesNo({ stdin, stdout, signal }: Context, question: string): Promise<boolean> {
  stdout.write(`${question} [y/N] `);
  const lines = createInterface({ input: stdin, terminal: false });
  const onAbort = () => lines.close();
  signal.addEventListener("abort", onAbort);
  try {
    const answer = await new Promise<string | undefined>((resolve) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(undefined));
    });
    if (answer === undefined) stdout.write("\n");
    return /^\s*y(es)?\s*$/i.test(answer ?? "");
  } finally {
    signal.removeEventListener("abort", onAbort);
    lines.close();
  }
}
