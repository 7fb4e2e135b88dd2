import type { RememberedFact } from "../../index.ts";
import type { MemoryEvent, Validity } from "../../memory-entry.ts";
import { formatAgo, formatTime } from "../format-time.ts";
import type { Paint } from "../paint.ts";
import { type Column, renderTable } from "../table.ts";

/** A memory in a list. */
type ListedMemory = RememberedFact & { readonly isPinned: boolean };

interface TableOptions {
  readonly now: number;
  readonly width: number;
  readonly paint: Paint;
}

const VALID: Column = { title: "valid" };

/** Builds the table of memories; the dates have a column only if there are any. */
export function renderMemories(memories: readonly ListedMemory[], options: TableOptions): readonly string[] {
  const hasDates = memories.some(({ from, until }) => from !== undefined || until !== undefined);
  const columns: readonly Column[] = [
    { title: "memory", look: "cyan" },
    { title: "by" },
    { title: "when" },
    { title: "pin" },
    ...(hasDates ? [VALID] : []),
    { title: "text", shrinks: "first" },
  ];
  const rows = memories.map((memory) => [
    memory.id,
    describeOrigin(memory),
    formatAgo(memory.at, options.now),
    memory.isPinned ? "pin" : "",
    ...(hasDates ? [describeValidity(memory)] : []),
    memory.text,
  ]);
  return renderTable(columns, rows, options);
}

/** Builds the table of changes. */
export function renderHistory(history: readonly MemoryEvent[], options: TableOptions): readonly string[] {
  const columns: readonly Column[] = [
    { title: "when" },
    { title: "change" },
    { title: "by" },
    { title: "memory", look: "cyan" },
    { title: "text", shrinks: "first" },
  ];
  const rows = history.map((event) => [
    formatTime(event.at),
    [event.change, describeValidity(event)].filter((word) => word !== "").join(" "),
    event.by ?? "",
    event.memory ?? "",
    event.text ??
      (event.change === "restored" ? "a forgotten or rejected value may be saved again" : "(erased)"),
  ]);
  return renderTable(columns, rows, options);
}

function describeOrigin({ by, trust }: RememberedFact): string {
  if (trust === "rejected") return `${by}, rejected`;
  return trust === by ? by : `${by}, accepted`;
}

function describeValidity({ from, until }: Validity): string {
  const words = [
    ...(from === undefined ? [] : [`from ${formatDate(from)}`]),
    ...(until === undefined ? [] : [`until ${formatDate(until)}`]),
  ];
  return words.join(" ");
}

/** A local day, with the time if it is not midnight. */
function formatDate(at: number): string {
  const text = formatTime(at);
  return text.endsWith(" 00:00:00") ? text.slice(0, 10) : text.slice(0, 16);
}
