import { type ImportOptions, type WatchEvent, watchSources } from "../../histories/index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { openStore } from "../open-store.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { formatDuration, formatTime } from "../terminal/format-time.ts";
import type { Paint } from "../terminal/paint.ts";
import { printTo } from "../terminal/printer.ts";
import { fitText } from "../terminal/width.ts";
import { formatProblem } from "./render-import-report.ts";

/** Imports existing and new conversations until stopped, printing each event on a line. */
export async function watchImports(
  context: CliContext,
  options: CommonValues,
  paths: readonly string[] | (() => Promise<readonly string[]>),
  choice: Pick<ImportOptions, "formats" | "since" | "signal">,
): Promise<number> {
  // Started by the gateway, it ends with the gateway, even with one that was killed.
  if (process.channel) process.once("disconnect", () => process.exit());
  const paint = choosePaint(context, options);
  const print = (text: string) => printTo(context.stdout, `${text}\n`, context.signal);
  const sessions = new Set<string>();
  let messages = 0;
  let exitCode: number = EXIT.fine;
  await using kernel = await openStore(context, options);
  for await (const event of watchSources(kernel, paths, { ...choice, withOriginals: true })) {
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

const MAX_COMMAND_COLUMNS = 60;

/** Formats a watch event on one line. */
function formatWatchEvent(event: WatchEvent, now: number, paint: Paint): string {
  return `${paint("dim", formatTime(now))} ${describeEvent(event, paint)}`;
}

function describeEvent(event: WatchEvent, paint: Paint): string {
  switch (event.type) {
    case "imported": {
      const { session, added, status, error } = event.report;
      if (status === "failed") return `${paint("red", "failed")} ${escapeLine(`${session}: ${error ?? ""}`)}`;
      const news = [formatQuantity(added.messages, "message"), formatQuantity(added.toolCalls, "tool call")];
      return `${paint("green", "imported")} ${escapeLine(session)}: ${news.join(", ")}`;
    }
    case "problem":
      return formatProblem(event.problem, paint);
    case "stalled": {
      const { source, idleMs, process } = event;
      const command = fitText(escapeLine(process.command.replaceAll("\0", " ")), MAX_COMMAND_COLUMNS);
      const what = `no new entries for ${formatDuration(idleMs)} although its agent is running (${command}, pid ${process.pid})`;
      return `${paint("yellow", "stalled")} ${escapeLine(source.path)}: ${what}; it may now write to another file`;
    }
    case "resumed":
      return `${paint("green", "resumed")} ${escapeLine(event.source.path)}`;
    case "idle":
      return paint("dim", "up to date, watching");
  }
}

/** Tells whether an event reports a problem. */
function isProblemEvent(event: WatchEvent): boolean {
  if (event.type === "imported") return event.report.status === "failed";
  return event.type === "problem" || event.type === "stalled";
}
