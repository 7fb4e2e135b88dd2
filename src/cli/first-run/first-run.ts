import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { isStoreThere } from "../open-store.ts";

/** True if a person sits at a terminal and can answer a question. */
export function canAsk({ isTerminal }: CliContext): boolean {
  return isTerminal.stdin && isTerminal.stdout;
}

/** True if a person sits at a terminal and the store does not exist yet. */
export function isFirstRun(context: CliContext, options: CommonValues): boolean {
  return canAsk(context) && !options.json && !options.quiet && !isStoreThere(context, options);
}
