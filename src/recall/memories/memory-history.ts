import { toEntry } from "../../log/entry-body.ts";
import type { Log } from "../../log/log.ts";
import { type Entry, type EntryId, formatEntryId, type SessionId } from "../../model/entry.ts";
import { parseMemoryChange } from "./memory-change.ts";
import type { Validity } from "./memory-trust.ts";
import { type MemoryAuthor, parseStoredMemory } from "./stored-memory.ts";

/** An event in the history of an agent's memories. */
export interface MemoryEvent extends Validity {
  readonly at: number;
  readonly change: "remembered" | "accepted" | "rejected" | "forgotten" | "restored" | "dated" | "moved";
  /** Who made the change; undefined for a memory that was erased since. */
  readonly by?: MemoryAuthor;
  /** Undefined where a forgotten value may be saved again. */
  readonly memory?: EntryId;
  /** Undefined if it was erased. */
  readonly text?: string;
}

/** Reads the entries of a session of memories, newest first. */
export async function* readMemoryEntries(
  log: Log,
  session: SessionId,
  kinds: readonly ("message" | "raw" | "redacted")[],
  before = Number.POSITIVE_INFINITY,
  pageSize = 256,
): AsyncGenerator<Entry> {
  for (let to = before - 1; to > 0; ) {
    const page = await log.store.entries.read(session, {
      from: 1,
      to,
      limit: pageSize,
      order: "descending",
      kinds,
    });
    for (const stored of page) yield toEntry(session, stored);
    const last = page.at(-1);
    if (!last || page.length < pageSize) return;
    to = last.seq - 1;
  }
}

/** The events of a session of memories, newest first. */
export async function readMemoryHistory(
  log: Log,
  session: SessionId,
  limit: number,
): Promise<readonly MemoryEvent[]> {
  const events: MemoryEvent[] = [];
  if (!(await log.store.sessions.get(session))) return events;
  for await (const entry of readMemoryEntries(log, session, ["message", "raw", "redacted"])) {
    if (events.length === limit) break;
    const event = await toMemoryEvent(log, entry);
    if (event) events.push(event);
  }
  return events;
}

async function toMemoryEvent(log: Log, entry: Entry): Promise<MemoryEvent | undefined> {
  const { at, id, session } = entry;
  if (entry.kind === "redacted")
    return entry.was === "message" ? { at, change: "remembered", memory: id } : undefined;
  const memory = parseStoredMemory(entry);
  if (memory) {
    const { by, text, from, until } = memory;
    return { at, change: "remembered", by, memory: id, text, ...toDates({ from, until }) };
  }
  const change = parseMemoryChange(entry);
  if (!change) return undefined;
  const base = { at, change: change.change, by: change.by };
  if (change.change === "restored") return base;
  const stored = await log.store.entries.get(session, change.of);
  const text = stored && parseStoredMemory(toEntry(session, stored))?.text;
  return {
    ...base,
    memory: formatEntryId(session, change.of),
    ...(text !== undefined && { text }),
    ...(change.change === "dated" && toDates(change)),
  };
}

function toDates({
  from,
  until,
}: {
  readonly from?: number | undefined;
  readonly until?: number | undefined;
}): Validity {
  return { ...(from !== undefined && { from }), ...(until !== undefined && { until }) };
}
