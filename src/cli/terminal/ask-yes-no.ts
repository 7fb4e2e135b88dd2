import { createInterface } from "node:readline";
import type { CliContext } from "../cli-context.ts";

/**
 * Asks a yes-or-no question on the terminal. An empty line means `isUsual`; end of input, Ctrl-C and all other words but
 * "y" and "yes" mean no.
 */
export async function askYesNo(
  { stdin, stdout, signal }: CliContext,
  question: string,
  isUsual = false,
): Promise<boolean> {
  stdout.write(`${question} ${isUsual ? "[Y/n]" : "[y/N]"} `);
  const lines = createInterface({ input: stdin, terminal: false });
  const onAbort = () => lines.close();
  signal.addEventListener("abort", onAbort);
  try {
    const answer = await new Promise<string | undefined>((resolve) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(undefined));
    });
    if (answer === undefined) stdout.write("\n");
    if (answer?.trim() === "") return isUsual;
    return /^\s*y(es)?\s*$/i.test(answer ?? "");
  } finally {
    signal.removeEventListener("abort", onAbort);
    lines.close();
  }
}
