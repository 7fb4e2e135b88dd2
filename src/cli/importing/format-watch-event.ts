import type { WatchEvent } from "../../formats/index.ts";
import { escapeLine } from "../escape.ts";
import { formatQuantity } from "../format-count.ts";
import { formatDuration, formatTime } from "../format-time.ts";
import type { Paint } from "../paint.ts";
import { fitText } from "../width.ts";
import { formatProblem } from "./render-import-report.ts";

const MAX_COMMAND_COLUMNS = 60;

/** Formats a watch event on one line. */
export function formatWatchEvent(event: WatchEvent, now: number, paint: Paint): string {
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
export function isProblemEvent(event: WatchEvent): boolean {
  if (event.type === "imported") return event.report.status === "failed";
  return event.type === "problem" || event.type === "stalled";
}
