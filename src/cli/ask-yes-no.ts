import { createInterface } from "node:readline";
import type { CliContext } from "./cli-context.ts";

/** Asks a yes-or-no question on the terminal. Only "y" and "yes" mean yes; end of input and Ctrl-C mean no. */
export async function askYesNo({ stdin, stdout, signal }: CliContext, question: string): Promise<boolean> {
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
