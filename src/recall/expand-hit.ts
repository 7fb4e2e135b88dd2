import { toEntry } from "../log/entry-body.ts";
import type { Log } from "../log/log.ts";
import { checkFields } from "../model/argument-checks.ts";
import { type Entry, type EntryId, parseEntryId } from "../model/entry.ts";
import { checkWholeNumber } from "../model/errors.ts";
import type { DepartedEntries } from "./departed-entries.ts";
import { RecallableMemories } from "./memories/recallable-memories.ts";

/** Options for expanding a hit. */
export interface ExpandOptions {
  /** Messages before and after the entry; default 2. */
  readonly around?: number;
  /** False to return nothing for an entry that was taken back; default true. */
  readonly rewound?: boolean;
}

/** Reads the entries around one; see `Memory.expand`. */
export async function readAroundEntry(
  log: Log,
  departedEntries: DepartedEntries,
  entry: EntryId,
  options: ExpandOptions,
): Promise<readonly Entry[]> {
  const { around = 2, rewound = true } = checkFields("options", options, { rewound: "boolean?" });
  const { session, seq } = parseEntryId(entry);
  const departed = departedEntries.look();
  const isTakenBack = await departed.isTakenBack(session, seq);
  if (isTakenBack && !rewound) return [];
  const { entries } = log.store;
  const limit = checkWholeNumber("around", around, 0, 100);
  const kinds = ["message"] as const;
  const before = await entries.read(session, { from: 1, to: seq - 1, limit, order: "descending", kinds });
  const own = await entries.get(session, seq);
  const to = Number.POSITIVE_INFINITY;
  const after = await entries.read(session, { from: seq + 1, to, limit, order: "ascending", kinds });
  const memories = new RecallableMemories(log);
  const isShown = async (other: number): Promise<boolean> =>
    (await memories.find(session, other)) !== "hidden" &&
    (isTakenBack || !(await departed.isTakenBack(session, other)));
  const shown: Entry[] = [];
  for (const one of [...[...before].reverse(), ...(own ? [own] : []), ...after])
    if (one.seq === seq || (await isShown(one.seq))) shown.push(toEntry(session, one));
  return shown;
}
