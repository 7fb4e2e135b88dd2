import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { choosePlaces } from "../importing/choose-places.ts";
import { importOnce } from "../importing/import-once.ts";
import { openExistingStore } from "../open-store.ts";
import { PhaseBar } from "../phase-bar.ts";
import { printTo } from "../printer.ts";
import { wrapText } from "../wrap-text.ts";
import { describeSavings } from "./render-savings.ts";
import { estimateSavings, type SavingsEstimate } from "./savings-estimate.ts";

const MAX_REPLAY_MS = 20_000;
const WELCOME = "longhaul remembers the conversations of your agents. It found these on this computer:";
const NEXT = `Next:
  longhaul recall "what did we decide about …?"   search all of them
  longhaul sessions                               list them
  longhaul serve                                  run the gateway: endless context for any agent
  longhaul help                                   everything else
`;

/** Finds histories on this computer, asks, imports and indexes them, and prints their cost. */
export async function runTour(
  context: CliContext,
  options: CommonValues,
  { isServing = false }: { readonly isServing?: boolean } = {},
): Promise<number> {
  const { stdout, signal } = context;
  await printTo(stdout, `${WELCOME}\n\n`);
  const paths = await choosePlaces(context, options, { signal }, false);
  let exitCode: number = EXIT.fine;
  if (paths.length > 0 && !signal.aborted) {
    exitCode = await importOnce(context, options, paths, { signal, isIndexed: true });
    if (signal.aborted) return exitCode;
    const savings = describeSavings(await measureSavings(context, options));
    await printTo(stdout, `\n${wrapText(savings, context.columns.stdout).join("\n")}\n`);
  }
  if (!isServing && !signal.aborted) await printTo(stdout, `\n${NEXT}`);
  return exitCode;
}

async function measureSavings(context: CliContext, options: CommonValues): Promise<SavingsEstimate> {
  const bar = new PhaseBar(context, options, [{ name: "comparing costs", weight: 1 }]);
  await using kernel = await openExistingStore(context, options);
  try {
    return await estimateSavings(kernel, MAX_REPLAY_MS, {
      signal: context.signal,
      onProgress: (share) => bar.update("comparing costs", share),
    });
  } finally {
    bar.clear();
  }
}
