import type { SeqRange } from "../../../kernel/faces/log.ts";
import { type Entry, type EntryId, formatEntryId } from "../../../kernel/index.ts";
import { toObject, toText } from "../../../wire/fields.ts";
import type { ExportedSession } from "../../port/writer.ts";
import { revertedIn } from "../../writing/overlays.ts";
import { PI_FORMATS, parseOwnMeta } from "./own-meta.ts";

/** Facts that must be known before the first entry is written, because later entries refer to earlier ones. */
export interface SessionSurvey {
  /** The whole log, or only the active line if its order differs from the log's. */
  readonly which: "line" | "log";
  readonly ids: EntryIds;
  /** Places where the active line continues from elsewhere: an entry → its predecessor. */
  readonly jumps: ReadonlyMap<EntryId, EntryId>;
  /** Entries whose place in the file is needed later. */
  readonly wanted: ReadonlySet<EntryId>;
  readonly wantedCalls: ReadonlySet<string>;
  /** Last entries of compacted ranges. */
  readonly ends: ReadonlySet<EntryId>;
  /** Ranges that edits hide entry by entry, because they are not at the beginning of the line. */
  readonly hidden: readonly SeqRange[];
  /** Ids of reverted edits. */
  readonly reverted: ReadonlySet<EntryId>;
}

/** Reads the session once. */
export async function surveySession(session: ExportedSession): Promise<SessionSurvey> {
  const which = isLogOrder(session) ? "log" : "line";
  const jumps = which === "log" ? findJumps(session.line) : new Map<EntryId, EntryId>();
  const survey = {
    which,
    ids: new EntryIds(),
    jumps,
    wanted: new Set<EntryId>(jumps.values()),
    wantedCalls: new Set<string>(),
    ends: new Set<EntryId>(),
    hidden: [] as SeqRange[],
    reverted: await revertedIn(session, which),
  } as const;
  for await (const entry of session.entries(which)) {
    const id = await readOwnId(entry, session);
    if (id !== undefined) survey.ids.reserve(id);
    if (entry.kind === "line") {
      const end = entry.ranges.at(-1);
      if (end) survey.wanted.add(formatEntryId(end.session, end.to));
    } else if (entry.kind === "overlay") noteEdit(entry, session.line, survey);
  }
  return survey;
}

interface SurveyNotes {
  readonly wanted: Set<EntryId>;
  readonly wantedCalls: Set<string>;
  readonly ends: Set<EntryId>;
  readonly hidden: SeqRange[];
}

function noteEdit(entry: Entry & { kind: "overlay" }, line: readonly SeqRange[], notes: SurveyNotes): void {
  const { edit, session } = entry;
  switch (edit.type) {
    case "replace":
      if ("callId" in edit.target) notes.wantedCalls.add(edit.target.callId);
      else notes.wanted.add(formatEntryId(session, edit.target.seq));
      return;
    case "summarize": {
      if (edit.entry !== undefined) notes.wanted.add(formatEntryId(session, edit.entry));
      const { beginning, others } = splitBeginning(edit.ranges, line);
      if (beginning) notes.ends.add(formatEntryId(beginning.session, beginning.to));
      for (const one of others) notes.hidden.push(one);
      return;
    }
    case "plan":
    case "revert":
      return;
    case "hide":
      for (const one of edit.ranges) notes.hidden.push(one);
  }
}

/** Returns the id that an entry was imported with. */
async function readOwnId(entry: Entry, session: ExportedSession): Promise<string | undefined> {
  if (entry.kind === "message") return parseOwnMeta(entry.message.meta)?.id;
  if (entry.kind === "usage") return parseOwnMeta(entry.meta)?.id;
  if (entry.kind !== "raw" || !PI_FORMATS.includes(entry.format)) return undefined;
  return toText(toObject(await session.raw(entry))?.id);
}

/** Tells whether the active line is entirely in this session's log and in log order. */
function isLogOrder({ line, record }: ExportedSession): boolean {
  return line.every(
    ({ session, from }, index) =>
      session === record.id && (index === 0 || (line[index - 1] as SeqRange).to < from),
  );
}

function findJumps(line: readonly SeqRange[]): Map<EntryId, EntryId> {
  const jumps = new Map<EntryId, EntryId>();
  for (const [index, { session, from }] of line.entries()) {
    const before = line[index - 1];
    if (before) jumps.set(formatEntryId(session, from), formatEntryId(before.session, before.to));
  }
  return jumps;
}

/**
 * Splits ranges into the one at the beginning of the line, if any, and the rest. Only the former is a compaction to pi.
 */
export function splitBeginning(
  ranges: readonly SeqRange[],
  line: readonly SeqRange[],
): { readonly beginning?: SeqRange; readonly others: readonly SeqRange[] } {
  const joined: SeqRange[] = [];
  for (const range of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last?.session === range.session && range.from <= last.to + 1)
      joined[joined.length - 1] = { ...last, to: Math.max(last.to, range.to) };
    else joined.push(range);
  }
  const [start] = line;
  const [first, ...others] = joined;
  const isBeginning = first && start && first.session === start.session && first.from <= start.from;
  return isBeginning ? { beginning: first, others } : { others: joined };
}

/** Assigns unique entry ids: the entry's own id if it has one, else eight hexadecimal digits. */
class EntryIds {
  /** Imported ids: true once written. */
  readonly #own = new Map<string, boolean>();
  #count = 0;

  /** Reserves an imported id; must be called before the first `take`. */
  reserve(id: string): void {
    this.#own.set(id, false);
  }

  /** Tells whether an entry with this id has been written. */
  isWritten(id: string): boolean {
    return this.#own.get(id) === true;
  }

  assignId(own: string | undefined): string {
    if (own !== undefined && this.#own.get(own) !== true) {
      this.#own.set(own, true);
      return own;
    }
    for (;;) {
      // Multiplication by an odd factor maps every count to a different number below 2^32.
      const id = Math.imul(++this.#count, 0x9e3779b1) >>> 0;
      const text = id.toString(16).padStart(8, "0");
      if (!this.#own.has(text)) return text;
    }
  }
}
