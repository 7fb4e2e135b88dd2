import { formatBytes } from "../../format/number.ts";
import { formatTime } from "../../format/time.ts";
import { healthText as text } from "./health-text.ts";
import type { MonitorNote } from "./use-history.ts";

const TYPES = {
  warning: "noteWarning",
  critical: "noteCritical",
  normal: "noteNormal",
  growth: "noteGrowth",
  relief: "noteRelief",
} as const;
const CLASSES = { warning: "warm", critical: "bad", normal: "good", growth: "warm", relief: "" } as const;

/** Warnings, growth and reliefs, newest first; a relief opens what it freed. */
export function MonitorNotes({ notes }: { readonly notes: readonly MonitorNote[] }) {
  return (
    <section class="section" id="notes">
      <h2 class="section-head">{text("notes")}</h2>
      {notes.length === 0 ? (
        <p class="dim">{text("noNotes")}</p>
      ) : (
        <ol class="monitor-notes card">
          {notes.toReversed().map((note) => (
            <li key={`${note.at} ${note.type}`}>
              <time class="number dim" dateTime={new Date(note.at).toISOString()}>
                {formatTime(note.at)}
              </time>
              <span class={`pill ${CLASSES[note.type]}`}>{text(TYPES[note.type])}</span>
              <div>
                <p>{note.text}</p>
                {note.report && <ReliefReport report={note.report} />}
              </div>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function ReliefReport({ report }: { readonly report: NonNullable<MonitorNote["report"]> }) {
  const rows = [
    ...report.caches
      .filter(({ freedBytes }) => freedBytes > 0)
      .sort((one, other) => other.freedBytes - one.freedBytes)
      .map(({ name, freedBytes }) => [name, formatBytes(freedBytes)] as const),
    [text("journal"), formatBytes(report.journalBytes)] as const,
  ];
  return (
    <details>
      <summary>{text("freed")}</summary>
      <table class="relief">
        <caption class="hidden">{text("freed")}</caption>
        <tbody>
          {rows.map(([name, size]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{size}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">{text("caches")}</th>
            <td class="number">{`${formatBytes(report.cacheBytesBefore)} → ${formatBytes(report.cacheBytesAfter)}`}</td>
          </tr>
          <tr>
            <th scope="row">{text("heap")}</th>
            <td class="number">{`${formatBytes(report.heapBytesBefore)} → ${formatBytes(report.heapBytesAfter)}`}</td>
          </tr>
          {report.heapSnapshot && (
            <tr>
              <th scope="row">{text("snapshot")}</th>
              <td>
                <code>{report.heapSnapshot}</code>
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </details>
  );
}
