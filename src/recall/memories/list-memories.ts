import { toEntry } from "../../log/entry-body.ts";
import type { Log } from "../../log/log.ts";
import type { Entry, SessionId } from "../../model/entry.ts";
import { readMemoryEntries } from "./memory-history.ts";
import type { MemoryLedger } from "./memory-ledger.ts";
import { sortByRank } from "./memory-order.ts";
import { isMemoryAdmitted, type MemoryFilter } from "./memory-trust.ts";
import type { StoredMemory } from "./stored-memory.ts";

/** A part of the memories of one session. */
interface MemoryListing {
  readonly session: SessionId;
  readonly ledger: MemoryLedger;
  readonly filter: MemoryFilter;
  readonly limit: number;
  /** Only memories with a rank below this one. */
  readonly below?: number;
  /** Only memories of agents that no person has accepted or rejected. */
  readonly isUnreviewed?: boolean | undefined;
  /** Only memories that pass. */
  readonly accepts?: (memory: StoredMemory) => boolean;
}

const MAX_PAGE = 256;
const MIN_PAGE = 16;

/** Lists memories in their order: the newest first, apart from those that were moved. */
export async function listMemories(log: Log, listing: MemoryListing): Promise<readonly StoredMemory[]> {
  const { ledger, filter, limit, isUnreviewed, accepts } = listing;
  const found: StoredMemory[] = [];
  const now = log.clock.now();
  for await (const entry of readInOrder(log, listing)) {
    const memory = ledger.findMemory(entry);
    if (!memory || !isMemoryAdmitted(memory, filter, now)) continue;
    if (isUnreviewed && (memory.by === "user" || ledger.isReviewed(entry.seq))) continue;
    if (accepts?.(memory) === false) continue;
    found.push(memory);
    if (found.length === limit) break;
  }
  return found;
}

/** Merges the moved memories, which are few, into the others, which are read from the newest on. */
async function* readInOrder(
  log: Log,
  { session, ledger, limit, below = Number.POSITIVE_INFINITY }: MemoryListing,
): AsyncGenerator<Entry> {
  const moved = sortByRank(ledger.listMoved().filter(({ rank }) => rank < below));
  const read = async (seq: number) => {
    const stored = await log.store.entries.get(session, seq);
    return stored?.kind === "message" ? [toEntry(session, stored)] : [];
  };
  let next = 0;
  const pageSize = Math.min(MAX_PAGE, Math.max(MIN_PAGE, limit));
  for await (const entry of readMemoryEntries(log, session, ["message"], Math.ceil(below), pageSize)) {
    if (ledger.isMoved(entry.seq)) continue;
    for (let one = moved[next]; one && one.rank > entry.seq; one = moved[++next]) yield* await read(one.seq);
    yield entry;
  }
  for (const { seq } of moved.slice(next)) yield* await read(seq);
}
