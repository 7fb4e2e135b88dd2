import type { WatchEvent } from "../../formats/index.ts";
import { formatDuration, formatTime } from "../ago.ts";
import { countOf } from "../count.ts";
import { escapeLine } from "../escape.ts";
import type { Paint } from "../paint.ts";
import { fitTo } from "../width.ts";
import { problemLine } from "./report.ts";

const MOST_COMMAND_COLUMNS = 60;

/** Formats a watch event on one line. */
export function eventLine(event: WatchEvent, now: number, paint: Paint): string {
  return `${paint("dim", formatTime(now))} ${eventWords(event, paint)}`;
}

function eventWords(event: WatchEvent, paint: Paint): string {
  switch (event.type) {
    case "imported": {
      const { session, added, status, error } = event.report;
      if (status === "failed") return `${paint("red", "failed")} ${escapeLine(`${session}: ${error ?? ""}`)}`;
      const news = [countOf(added.messages, "message"), countOf(added.toolCalls, "tool call")];
      return `${paint("green", "imported")} ${escapeLine(session)}: ${news.join(", ")}`;
    }
    case "problem":
      return problemLine(event.problem, paint);
    case "stalled": {
      const { source, idleMs, process } = event;
      const command = fitTo(escapeLine(process.command.replaceAll("\0", " ")), MOST_COMMAND_COLUMNS);
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
export function isBad(event: WatchEvent): boolean {
  if (event.type === "imported") return event.report.status === "failed";
  return event.type === "problem" || event.type === "stalled";
}
