import { type ImportOptions, watchSources } from "../../formats/index.ts";
import { choosePaint } from "../choose-paint.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { formatQuantity } from "../format-count.ts";
import { openStore } from "../open-store.ts";
import { printTo } from "../printer.ts";
import { formatWatchEvent, isProblemEvent } from "./format-watch-event.ts";

/** Imports existing and new conversations until stopped, printing each event on a line. */
export async function watchImports(
  context: CliContext,
  options: CommonValues,
  paths: readonly string[],
  choice: Pick<ImportOptions, "formats" | "since" | "signal">,
): Promise<number> {
  const paint = choosePaint(context, options);
  const print = (text: string) => printTo(context.stdout, `${text}\n`, context.signal);
  const sessions = new Set<string>();
  let messages = 0;
  let exitCode: number = EXIT.fine;
  await using kernel = await openStore(context, options);
  for await (const event of watchSources(kernel, paths, choice)) {
    if (event.type === "imported") {
      sessions.add(event.report.session);
      messages += event.report.added.messages;
    }
    if (isProblemEvent(event) && event.type !== "stalled") exitCode = EXIT.incomplete;
    if (options.json) await print(toSafeJson(event));
    else if (!options.quiet || isProblemEvent(event)) await print(formatWatchEvent(event, Date.now(), paint));
  }
  const conversations = sessions.size;
  const summary = `${formatQuantity(messages, "message")} of ${formatQuantity(conversations, "conversation")} imported`;
  if (options.json) await print(toSafeJson({ type: "stopped", conversations, messages }));
  else if (!options.quiet) await print(`Stopped: ${summary}.`);
  return exitCode;
}
