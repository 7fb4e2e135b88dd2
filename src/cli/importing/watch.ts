import { type ImportOptions, watchSources } from "../../formats/index.ts";
import type { CommonValues } from "../command.ts";
import type { Context } from "../context.ts";
import { countOf } from "../count.ts";
import { safeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { paintFor } from "../look.ts";
import { printTo } from "../printer.ts";
import { openStore } from "../store.ts";
import { eventLine, isBad } from "./event-line.ts";

/** Imports existing and new conversations until stopped, printing each event on a line. */
export async function watch(
  context: Context,
  options: CommonValues,
  paths: readonly string[],
  choice: Pick<ImportOptions, "formats" | "since" | "signal">,
): Promise<number> {
  const paint = paintFor(context, options);
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
    if (isBad(event) && event.type !== "stalled") exitCode = EXIT.incomplete;
    if (options.json) await print(safeJson(event));
    else if (!options.quiet || isBad(event)) await print(eventLine(event, Date.now(), paint));
  }
  const conversations = sessions.size;
  const summary = `${countOf(messages, "message")} of ${countOf(conversations, "conversation")} imported`;
  if (options.json) await print(safeJson({ type: "stopped", conversations, messages }));
  else if (!options.quiet) await print(`Stopped: ${summary}.`);
  return exitCode;
}
