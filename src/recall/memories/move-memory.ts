import type { Log } from "../../log/log.ts";
import { checkFields } from "../../model/argument-checks.ts";
import { type EntryId, parseEntryId, type SessionId } from "../../model/entry.ts";
import { createArgumentError } from "../../model/errors.ts";
import { toChangeBody } from "./memory-change.ts";
import { createMemoryNotFound } from "./memory-errors.ts";
import { readMemoryEntries } from "./memory-history.ts";
import { type MemoryLedger, readMemoryLedger } from "./memory-ledger.ts";
import { planMove, type RankedMemory, sortByRank } from "./memory-order.ts";

/** A place in the order of memories. */
export type MemoryPlace =
  | { readonly above: EntryId }
  | { readonly below: EntryId }
  /** Before all others. */
  | "top";

/** Gives a memory another place in the order; throws ENTRY_NOT_FOUND if it or its new neighbor does not exist. */
export async function moveMemory(
  log: Log,
  { agent, session }: { readonly agent: string; readonly session: SessionId },
  which: EntryId,
  to: MemoryPlace,
): Promise<void> {
  const neighbor = checkPlace(to);
  const ledger = await readMemoryLedger(log, session);
  const order = ledger ? await readOrder(log, session, ledger) : [];
  const find = (id: EntryId, list: readonly RankedMemory[]): number => {
    const place = parseEntryId(id);
    const index = place.session === session ? list.findIndex(({ seq }) => seq === place.seq) : -1;
    if (index < 0) throw createMemoryNotFound(agent, id);
    return index;
  };
  const moved = order[find(which, order)] as RankedMemory;
  if (neighbor?.id === which) return;
  const others = order.filter(({ seq }) => seq !== moved.seq);
  const index = neighbor ? find(neighbor.id, others) + (neighbor.isBelow ? 1 : 0) : 0;
  // The seq of the first change: above all memories so far, and below all later ones.
  const top = (await log.store.entries.head(session)).seq + 1;
  const changes = planMove(others, moved.seq, index, top);
  await log.append(
    session,
    changes.map(({ seq, rank }) => ({ body: toChangeBody({ change: "moved", of: seq, rank, by: "user" }) })),
  );
}

async function readOrder(
  log: Log,
  session: SessionId,
  ledger: MemoryLedger,
): Promise<readonly RankedMemory[]> {
  const all: RankedMemory[] = [];
  for await (const entry of readMemoryEntries(log, session, ["message"]))
    if (ledger.findMemory(entry)) all.push({ seq: entry.seq, rank: ledger.rankOf(entry.seq) });
  return sortByRank(all);
}

function checkPlace(to: MemoryPlace): { readonly id: EntryId; readonly isBelow: boolean } | undefined {
  if (to === "top") return undefined;
  const { above, below } = checkFields("to", to as { above?: EntryId; below?: EntryId }, {
    above: "text?",
    below: "text?",
  });
  if (above !== undefined && below === undefined) return { id: above, isBelow: false };
  if (below !== undefined && above === undefined) return { id: below, isBelow: true };
  throw createArgumentError("to", to, '"top", or the memory above or below which it goes');
}
