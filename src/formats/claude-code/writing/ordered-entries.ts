import type { Entry } from "../../../index.ts";
import type { SeqRange } from "../../../log-entry.ts";
import type { ExportedSession } from "../../port/writer.ts";

/** An entry, and whether it is on the active line. */
interface OrderedEntry {
  readonly entry: Entry;
  readonly isOnLine: boolean;
}

/**
 * Yields all entries: those of the active line in its order, the others near their place in the log. Entries shared
 * with the origin of a fork come first.
 */
export async function* readOrderedEntries(session: ExportedSession): AsyncGenerator<OrderedEntry> {
  const { id } = session.record;
  const own = session.line.filter((range) => range.session === id);
  if (own.length < session.line.length) {
    for await (const entry of session.entries("line")) {
      if (entry.session === id) break;
      yield { entry, isOnLine: true };
    }
  }
  const isRising = own.every((range, index) => index === 0 || (own[index - 1] as SeqRange).to < range.from);
  if (isRising) yield* readInLogOrder(session, own);
  else yield* readInLineOrder(session, own);
}

async function* readInLogOrder(
  session: ExportedSession,
  line: readonly SeqRange[],
): AsyncGenerator<OrderedEntry> {
  let next = 0;
  for await (const entry of session.entries("log")) {
    if (entry.session !== session.record.id) continue;
    while (next < line.length && (line[next] as SeqRange).to < entry.seq) next++;
    yield { entry, isOnLine: next < line.length && (line[next] as SeqRange).from <= entry.seq };
  }
}

/**
 * Orders by the line, for lines on which newer entries replace older ones; entries that left the line follow their
 * predecessors.
 */
async function* readInLineOrder(
  session: ExportedSession,
  line: readonly SeqRange[],
): AsyncGenerator<OrderedEntry> {
  const log = session.entries("log");
  let ahead: Entry | undefined;
  const before = async function* (seq: number): AsyncGenerator<OrderedEntry> {
    for (;;) {
      ahead ??= (await log.next()).value as Entry | undefined;
      if (!ahead || ahead.seq >= seq) return;
      if (!isWithin(ahead.seq, line)) yield { entry: ahead, isOnLine: false };
      ahead = undefined;
    }
  };
  try {
    for await (const entry of session.entries("line")) {
      if (entry.session !== session.record.id) continue;
      if (!isReplacement(entry.seq, line)) yield* before(entry.seq);
      yield { entry, isOnLine: true };
    }
    yield* before(Number.POSITIVE_INFINITY);
  } finally {
    await log.return(undefined);
  }
}

function isWithin(seq: number, line: readonly SeqRange[]): boolean {
  return line.some(({ from, to }) => from <= seq && seq <= to);
}

/** Tells whether older entries follow on the line. */
function isReplacement(seq: number, line: readonly SeqRange[]): boolean {
  const index = line.findIndex(({ from, to }) => from <= seq && seq <= to);
  return line.slice(index + 1).some(({ from }) => from < seq);
}
